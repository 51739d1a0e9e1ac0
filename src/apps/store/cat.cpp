// dyetrace cat: gives back what moved, as it was seen: a file, or one direction of a socket or pipe.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "apps/cli/output.h"
#include "apps/cli/verbs.h"
#include "apps/store/confine_reader.h"
#include "base/byte_range.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/harmless.h"
#include "base/log.h"
#include "base/text.h"
#include "query/damages.h"
#include "reports/rebuild/cat_reader.h"
#include "store/database.h"

namespace dyetrace::apps {
namespace {

constexpr std::size_t kHolesNamed = 5;
constexpr std::size_t kZeroBytes = 1u << 16;
constexpr int kExitHoles = 3;  // what could be given back was

struct CatArguments {
    std::string trace, path, direction, range;
    std::uint64_t object = 0, connection = 0;
};

// Writes to stdout: bytes as they are, but to a terminal without what a terminal would obey.
class Output {
  public:
    Result<void> write(std::span<const std::byte> bytes) const {
        const std::string harmless =
            is_terminal_ ? base::make_lines_harmless(base::text_of(bytes)) : "";
        return base::write_all(file_, is_terminal_ ? base::bytes_of(harmless) : bytes)
            .with_context(kCannotWrite);
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
    log.warn(fmt::format("{} bytes in {} were not seen, and {}: {}{}",
                         base::with_separators(bytes),
                         base::counted(holes.size(), "place"),
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

// A path is as the trace has it, or from the current folder on.
reports::CatQuestion question_of(const CatArguments& arguments, const base::ByteRange& range) {
    reports::CatQuestion question{.object = arguments.object,
                                  .connection = arguments.connection,
                                  .direction = arguments.direction,
                                  .range = range};
    if (!arguments.path.empty()) {
        question.paths = {arguments.path,
                          std::filesystem::absolute(arguments.path).lexically_normal()};
    }
    return question;
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
    TRY(const reports::CatAnswer answer,
        reports::read_cat(*database, payload, question_of(arguments, range)));
    say_payload_state(payload, log);
    if (answer.uncertain > 0) {
        log.warn(
            fmt::format("{} calls shared a file position with others at the same time: what "
                        "they moved may be misplaced",
                        base::with_separators(answer.uncertain)));
    }
    TRY(const std::vector<reports::CatStretch> holes,
        write_plan(answer.plan, payload, answer.is_file));
    if (!holes.empty()) {
        say_holes(log, holes, answer.is_file);
    }
    return holes.empty() ? 0 : kExitHoles;
}

int run_cat(const CatArguments& arguments) {
    const base::Log log = base::Log::to_stderr();
    confine_reader(log, {arguments.trace});
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
