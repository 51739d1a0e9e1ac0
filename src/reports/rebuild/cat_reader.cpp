#include "reports/rebuild/cat_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>

#include "base/sql_literal.h"
#include "query/asked_rows.h"
#include "query/flows/trace_questions.h"
#include "query/named_sql.h"
#include "query/sql.h"
#include "schema/text.h"

namespace dyetrace::reports {
namespace {

namespace sql = query::sql;

constexpr std::size_t kMovesMax = 4'000'000;  // 200 bytes each
constexpr std::size_t kObjectsNamed = 5;      // in a message

// What is asked for, as words and as a condition.
struct Wanted {
    std::string words, condition;
};

Wanted wanted_of(const CatQuestion& question) {
    if (!question.paths.empty()) {
        std::vector<std::string> names;
        for (const std::string& path : question.paths) {
            names.push_back(base::quoted_sql(schema::escaped(path)));
        }
        return {fmt::format("'{}'", question.paths.front()),
                fmt::format("path IN ({})", fmt::join(names, ", "))};
    }
    return question.connection != 0 ? Wanted{fmt::format("connection {}", question.connection),
                                             fmt::format("connection_id = {}", question.connection)}
                                    : Wanted{fmt::format("object {}", question.object),
                                             fmt::format("object_id = {}", question.object)};
}

struct CatObject {
    std::uint64_t id = 0;
    std::string type, name;
    bool is_read = false, is_written = false;

    bool is_file() const { return type == "file" || type == "block_device" || type == "memory"; }
};

Error several_objects(const std::vector<CatObject>& objects, const Wanted& wanted) {
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

Result<CatObject> find_object(store::Database& database, const CatQuestion& question) {
    const Wanted wanted = wanted_of(question);
    std::vector<CatObject> objects;
    TRY(query::each_row(
        database,
        query::filled(sql::kCatObjects, {{"condition", query::SqlPiece{wanted.condition}}}),
        [&](query::Row c) {
            objects.push_back({query::number_of(c[0]),
                               std::string(c[1].text),
                               std::string(c[2].text),
                               c[3].is_true(),
                               c[4].is_true()});
        }));
    if (objects.empty()) {
        std::string meant;
        if (!question.paths.empty()) {
            TRY(meant, query::names_meant(database, question.paths.back()));
        }
        return Error(ErrorCode::kNotFound,
                     fmt::format("nothing in the trace '{}' read or wrote {}{}",
                                 database.path(),
                                 wanted.words,
                                 meant));
    }
    if (objects.size() > 1) {
        return several_objects(objects, wanted);
    }
    return objects.front();
}

// Both for a file, unless one is asked for; of a socket or pipe one.
Result<std::string> direction_of(const CatObject& object, const CatQuestion& question) {
    if (question.direction == "in" || question.direction == "out") {
        return question.direction;
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
    std::vector<CatMove> moves;
    std::unordered_multimap<std::uint64_t, std::size_t>
        by_event;                 // a copy within a file moves twice
    std::uint64_t uncertain = 0;  // calls on one file position that overlapped
};

Result<Moves> find_moves(store::Database& database,
                         const CatObject& object,
                         const std::string& direction) {
    const char* const inbound = direction.empty() ? "NULL" : direction == "in" ? "true" : "false";
    const char* const offset = object.is_file() ? "file_offset" : "stream_offset";
    Moves out;
    TRY(query::each_row(
        database,
        query::filled(sql::kCatMovesOf,
                      {{"offset", query::SqlPiece{offset}},
                       {"object", object.id},
                       {"inbound", query::SqlPiece{inbound}},
                       {"most", kMovesMax + 1}}),
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

}  // namespace

Result<CatAnswer> read_cat(store::Database& database,
                           query::TracePayload& payload,
                           const CatQuestion& question) {
    TRY(query::each_row(database, query::filled(sql::kCatMoves), [](query::Row) {}));
    TRY(const CatObject object, find_object(database, question));
    TRY(const std::string direction, direction_of(object, question));
    TRY(Moves moves, find_moves(database, object, direction));
    TRY(payload.scan([&](std::uint64_t event, const query::PayloadPart& part) {
        const auto [first, last] = moves.by_event.equal_range(event);
        std::for_each(
            first, last, [&](const auto& move) { moves.moves[move.second].parts.push_back(part); });
    }));
    return CatAnswer{.is_file = object.is_file(),
                     .plan = part_of(object.is_file() ? plan_file(moves.moves)
                                                      : plan_stream(std::move(moves.moves)),
                                     question.range.from,
                                     question.range.to),
                     .uncertain = moves.uncertain};
}

}  // namespace dyetrace::reports
