// dyetrace cat: gives back what moved, as it was seen: a file, or one direction of a socket or pipe.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "apps/cli/verbs.h"
#include "base/byte_range.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/log.h"
#include "base/sql_literal.h"
#include "base/text.h"
#include "format/quote.h"
#include "query/asked_rows.h"
#include "query/damages.h"
#include "reports/rebuild/cat_plan.h"
#include "schema/text.h"
#include "store/database.h"

namespace dyetrace::apps {
namespace {

constexpr std::size_t kMovesMax = 4'000'000;  // 200 bytes each
constexpr std::size_t kObjectsNamed = 5;      // in a message
constexpr std::size_t kHolesNamed = 5;
constexpr std::size_t kZeroBytes = 1u << 16;
constexpr int kExitHoles = 3;  // what could be given back was

struct CatArguments {
    std::string trace, path, direction, range;
    std::uint64_t object = 0, connection = 0;
};

// What is asked for, as words and as a condition.
struct Wanted {
    std::string words, condition;
};

Wanted wanted_of(const CatArguments& arguments) {
    if (!arguments.path.empty()) {
        // as a trace has it, or from the current folder on
        const std::string here = std::filesystem::absolute(arguments.path).lexically_normal();
        return {fmt::format("'{}'", arguments.path),
                fmt::format("path IN ({}, {})",
                            base::quoted_sql(schema::escaped(arguments.path)),
                            base::quoted_sql(schema::escaped(here)))};
    }
    return arguments.connection != 0
               ? Wanted{fmt::format("connection {}", arguments.connection),
                        fmt::format("connection_id = {}", arguments.connection)}
               : Wanted{fmt::format("object {}", arguments.object),
                        fmt::format("object_id = {}", arguments.object)};
}

struct CatObject {
    std::uint64_t id = 0;
    std::string type, name;
    bool is_read = false, is_written = false;

    bool is_file() const { return type == "file" || type == "block_device" || type == "memory"; }
};

// One row per object that an event took bytes from (inbound) or gave them to; and with 0 bytes those that tell a file's size.
constexpr const char* kMoves = R"sql(FROM (
SELECT object_id, object_type, path, connection_id, file_offset, offset_certain, stream_offset, bytes, object_size,
       start_ns + coalesce(duration_ns, 0) AS end_ns, event_id, transfer IN ('read', 'copy_to') AS is_inbound, false AS is_truncate
FROM events WHERE bytes > 0 AND object_id IS NOT NULL AND transfer IN ('read', 'write', 'copy_to', 'copy_from')
UNION ALL
SELECT object2_id, o.object_type, path2, NULL, file_offset2, offset2_certain, CASE WHEN o.object_type = 'socket' THEN stream_offset END, bytes, NULL,
       start_ns + coalesce(duration_ns, 0), event_id, transfer = 'copy_from', false
FROM events JOIN objects o ON o.object_id = object2_id WHERE bytes > 0 AND transfer IN ('copy_to', 'copy_from', 'tee')
UNION ALL
SELECT object_id, object_type, path, NULL, NULL, NULL, NULL, 0, object_size, start_ns + coalesce(duration_ns, 0), event_id, NULL,
       name SIMILAR TO 'f?truncate(64)?'
FROM events WHERE object_size IS NOT NULL AND object_type = 'file' AND coalesce(bytes, 0) <= 0))sql";

Result<CatObject> find_object(store::Database& database, const CatArguments& arguments) {
    const Wanted wanted = wanted_of(arguments);
    std::vector<CatObject> objects;
    TRY(query::each_row(
        database,
        fmt::format("SELECT object_id, any_value(object_type), any_value(coalesce(path, '?')), "
                    "bool_or(is_inbound), bool_or(NOT is_inbound) {} WHERE {} AND bytes > 0 "
                    "GROUP BY object_id ORDER BY min(end_ns)",
                    kMoves,
                    wanted.condition),
        [&](query::Row c) {
            objects.push_back({query::number_of(c[0]),
                               std::string(c[1].text),
                               std::string(c[2].text),
                               c[3].is_true(),
                               c[4].is_true()});
        }));
    if (objects.empty()) {
        return Error(
            ErrorCode::kNotFound,
            fmt::format(
                "nothing in the trace '{}' read or wrote {}", arguments.trace, wanted.words));
    }
    if (objects.size() > 1) {
        std::vector<std::string> ids;
        for (const CatObject& object :
             std::span(objects).first(std::min(objects.size(), kObjectsNamed))) {
            ids.push_back(std::to_string(object.id));
        }
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("{} objects are {}: take one with --object: {}{}",
                                 objects.size(),
                                 wanted.words,
                                 fmt::join(ids, ", "),
                                 objects.size() > ids.size() ? ", …" : ""));
    }
    return objects.front();
}

// Both for a file, unless one is asked for; of a socket or pipe one.
Result<std::string> direction_of(const CatObject& object, const CatArguments& arguments) {
    if (arguments.direction == "in" || arguments.direction == "out") {
        return arguments.direction;
    }
    if (object.is_file()) {
        return std::string();
    }
    if (object.is_read && object.is_written) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("object {} was read and written, and these are two streams: say "
                                 "--direction in, or out",
                                 object.id));
    }
    return std::string(object.is_read ? "in" : "out");
}

struct Moves {
    std::vector<reports::CatMove> moves;
    std::unordered_multimap<std::uint64_t, std::size_t>
        by_event;                 // a copy within a file moves twice
    std::uint64_t uncertain = 0;  // calls on one file position that overlapped
};

Result<Moves> find_moves(store::Database& database,
                         const CatObject& object,
                         const std::string& direction) {
    const char* const wanted = direction.empty()   ? ""
                               : direction == "in" ? "AND (is_inbound OR bytes = 0)"
                                                   : "AND (NOT is_inbound OR bytes = 0)";
    Moves out;
    TRY(query::each_row(
        database,
        fmt::format(
            "SELECT event_id, is_inbound, {}, bytes, object_size, offset_certain, is_truncate "
            "{} WHERE object_id = {} {} ORDER BY end_ns, event_id LIMIT {}",
            object.is_file() ? "file_offset" : "stream_offset",
            kMoves,
            object.id,
            wanted,
            kMovesMax + 1),
        [&](query::Row c) {
            out.by_event.emplace(query::number_of(c[0]), out.moves.size());
            out.moves.push_back({c[1].is_true(),
                                 c[2].unsigned_number(),
                                 query::number_of(c[3]),
                                 object.type == "file" ? c[4].unsigned_number() : std::nullopt,
                                 c[6].is_true(),
                                 {}});
            out.uncertain += object.is_file() && !c[5].is_null() && !c[5].is_true() ? 1 : 0;
        }));
    if (out.moves.size() > kMovesMax) {
        return Error(ErrorCode::kLimitReached,
                     fmt::format("object {} was read and written more than {} times, which is more "
                                 "than cat puts together",
                                 object.id,
                                 kMovesMax));
    }
    return out;
}

// To stdout: as it is, but to a terminal without what a terminal would obey.
class Output {
  public:
    Result<void> write(std::span<const std::byte> bytes) const {
        return is_terminal_ ? write_text(base::text_of(bytes)) : base::write_all(file_, bytes);
    }
    Result<void> write_zeros(std::uint64_t bytes) const {
        static constexpr std::byte kZeros[kZeroBytes] = {};
        for (std::uint64_t left = bytes; left > 0;) {
            const std::size_t now = std::min<std::uint64_t>(left, kZeroBytes);
            TRY(write(std::span(kZeros).first(now)));
            left -= now;
        }
        return {};
    }

  private:
    Result<void> write_text(std::string_view text) const {
        std::string out;
        while (!text.empty()) {
            const std::size_t line = text.find_first_of("\n\t");
            out += format::make_harmless(text.substr(0, line));
            text.remove_prefix(std::min(line, text.size()));
            if (!text.empty()) {
                out += text.front();
                text.remove_prefix(1);
            }
        }
        return base::write_all(file_, base::bytes_of(out));
    }

    base::Fd file_{::dup(STDOUT_FILENO)};
    bool is_terminal_ = ::isatty(STDOUT_FILENO) == 1;
};

// What could not be given back, and why.
void say_holes(const base::Log& log, const std::vector<reports::CatStretch>& holes, bool is_file) {
    std::uint64_t bytes = 0;
    std::vector<std::string> places;
    for (const reports::CatStretch& hole : holes) {
        bytes += hole.bytes;
        if (places.size() < kHolesNamed) {
            places.push_back(fmt::format("{}-{}", hole.begin, hole.begin + hole.bytes));
        }
    }
    log.warn(fmt::format("{} bytes in {} place{} were not seen, and {}: {}{}",
                         base::with_separators(bytes),
                         base::with_separators(holes.size()),
                         holes.size() == 1 ? "" : "s",
                         is_file ? "zeros stand for them" : "are left out",
                         fmt::join(places, ", "),
                         holes.size() > places.size() ? ", …" : ""));
}

// Returns the holes.
Result<std::vector<reports::CatStretch>> write_plan(const std::vector<reports::CatStretch>& plan,
                                                    query::TracePayload& payload,
                                                    bool is_file) {
    const Output out;
    std::vector<reports::CatStretch> holes;
    for (const reports::CatStretch& stretch : plan) {
        if (stretch.part) {
            TRY(const std::span<const std::byte> bytes, payload.bytes_at(*stretch.part));
            TRY(out.write(bytes));
            continue;
        }
        const bool goes_on =
            !holes.empty() && holes.back().begin + holes.back().bytes == stretch.begin;
        if (stretch.is_hole() && goes_on) {
            holes.back().bytes += stretch.bytes;
        } else if (stretch.is_hole()) {
            holes.push_back(stretch);
        }
        if (is_file || stretch.is_zeros) {
            TRY(out.write_zeros(stretch.bytes));
        }
    }
    return holes;
}

void say_payload_state(const query::TracePayload& payload, const base::Log& log) {
    if (payload.damaged_blocks() > 0) {
        log.warn(fmt::format("{} blocks of the payload are damaged", payload.damaged_blocks()));
    }
    if (!payload.is_complete()) {
        log.warn("the recording has not ended, or ended early: what moved last may be missing");
    } else if (payload.redacted_bytes() > 0) {
        log.warn(fmt::format("{} bytes of this trace are redacted: they are '*'",
                             base::with_separators(payload.redacted_bytes())));
    }
}

// Returns the exit status.
Result<int> cat(const CatArguments& arguments, const base::ByteRange& range, const base::Log& log) {
    TRY(query::TracePayload payload, query::TracePayload::open(arguments.trace));
    TRY(const std::unique_ptr<store::Database> database,
        store::Database::open(arguments.trace, {}));
    query::say_damages(*database, log);
    if (const std::string losses = database->losses().text(); !losses.empty()) {
        log.warn(fmt::format("the trace has {}; the table `gaps` says where", losses));
    }
    TRY(const CatObject object, find_object(*database, arguments));
    TRY(const std::string direction, direction_of(object, arguments));
    TRY(Moves moves, find_moves(*database, object, direction));
    TRY(payload.scan([&](std::uint64_t event, const query::PayloadPart& part) {
        const auto [first, last] = moves.by_event.equal_range(event);
        std::for_each(
            first, last, [&](const auto& move) { moves.moves[move.second].parts.push_back(part); });
    }));
    say_payload_state(payload, log);
    if (moves.uncertain > 0) {
        log.warn(
            fmt::format("{} calls shared a file position with others at the same time: what "
                        "they moved may be misplaced",
                        base::with_separators(moves.uncertain)));
    }
    const std::vector<reports::CatStretch> plan =
        reports::part_of(object.is_file() ? reports::plan_file(moves.moves)
                                          : reports::plan_stream(std::move(moves.moves)),
                         range.from,
                         range.to);
    TRY(const std::vector<reports::CatStretch> holes, write_plan(plan, payload, object.is_file()));
    if (!holes.empty()) {
        say_holes(log, holes, object.is_file());
    }
    return holes.empty() ? 0 : kExitHoles;
}

int run_cat(const CatArguments& arguments) {
    const base::Log log = base::Log::to_stderr();
    const int asked = (arguments.path.empty() ? 0 : 1) + (arguments.object == 0 ? 0 : 1) +
                      (arguments.connection == 0 ? 0 : 1);
    const Result<base::ByteRange> range = base::byte_range(arguments.range);
    if (asked != 1 || !range.ok()) {
        log.fail(range.ok() ? "say which: --path, --object or --connection, one of them"
                            : range.error().text());
        return kExitUsage;
    }
    const Result<int> done = cat(arguments, range.value(), log);
    if (!done.ok()) {
        log.fail(done.error());
    }
    return done.ok() ? done.value() : kExitFailure;
}

}  // namespace

void add_cat(CLI::App& app, int& exit_status) {
    auto arguments = std::make_shared<CatArguments>();
    CLI::App* verb =
        app.add_subcommand("cat", "Give back a file or a stream as it was seen to move");
    verb->add_option("trace", arguments->trace, "Folder of a trace with --content=bytes")
        ->type_name("TRACE")
        ->required();
    verb->add_option("--path",
                     arguments->path,
                     "The file of that name, as `events` has it; a relative one is taken from "
                     "the current folder")
        ->type_name("PATH");
    verb->add_option("--object", arguments->object, "The object with that object_id")
        ->type_name("ID");
    verb->add_option("--connection", arguments->connection, "The socket with that connection_id")
        ->type_name("ID");
    verb->add_option("--direction",
                     arguments->direction,
                     "What was read (in) or written (out); of a file both, unless one is said")
        ->check(CLI::IsMember({"in", "out"}))
        ->type_name("WAY");
    verb->add_option(
            "--range", arguments->range, "Bytes FROM to TO, TO not included; FROM- to the end")
        ->type_name("FROM-TO");
    verb->footer(
        "Examples:\n"
        "  dyetrace cat trace --path /etc/app.conf\n"
        "  dyetrace cat trace --object 17 --direction in > request\n"
        "  dyetrace cat trace --connection 4711 --direction out | less\n"
        "  dyetrace cat trace --path core.db --range 4096-8192 | xxd\n"
        "Exit status: 3 if some of it was not seen, and stderr says which bytes.");
    verb->callback([arguments, &exit_status] { exit_status = run_cat(*arguments); });
}

}  // namespace dyetrace::apps
