#include "apps/follow_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "apps/flow_maker.h"
#include "apps/flow_rows.h"
#include "schema/text.h"

namespace dyetrace::apps {
namespace {

using analysis::Direction;
using analysis::kUnknown;
using analysis::Operation;
using analysis::Side;
using analysis::Trail;
using analysis::TrailPiece;

constexpr std::size_t kFlowsMax = 16'000'000;  // 56 bytes each: 900 MB
constexpr std::size_t kStartsMax = 1'000'000;  // calls on the file that is asked about
constexpr std::size_t kStepsMax = 4'000'000;   // 48 bytes each, and what they reach: 500 MB
constexpr std::size_t kHopsMax = 10'000;       // of people's or programs' interest
constexpr std::size_t kSimilarNamesMax = 3;    // names that may have been meant

std::string quoted(const std::string& text) {
    std::string out = "'";
    for (const char c : text) {
        out.append(c == '\'' ? 2 : 1, c);
    }
    return out + "'";
}

using Row = std::span<const store::Cell>;

Result<void> each_row(store::Database& database,
                      const std::string& sql,
                      const std::function<void(Row)>& take) {
    return database.query(sql, [&](store::Rows& rows) -> Result<void> {
        for (;;) {
            TRY(const Row row, rows.next());
            if (row.empty()) {
                return {};
            }
            take(row);
        }
    });
}

std::uint64_t number_of(const store::Cell& cell) {
    return cell.text.empty() ? 0 : std::stoull(std::string(cell.text));
}

Result<void> each_operation(store::Database& database,
                            const std::function<void(const Operation&, std::uint64_t call)>& take) {
    TRY(store::NumberScan scan, database.scan_numbers(unordered_moves_sql()));
    for (;;) {
        TRY(const store::NumberBatch* const batch, scan.next());
        if (batch->rows == 0) {
            return {};
        }
        for (std::size_t row = 0; row < batch->rows; ++row) {
            take(operation_in(batch->columns, row), batch->columns[kMoveCall][row]);
        }
    }
}

Result<std::unordered_set<std::uint64_t>> objects_called(store::Database& database,
                                                         const std::string& path) {
    std::unordered_set<std::uint64_t> objects;
    const std::string name = schema::escaped(path);
    TRY(each_row(
        database,
        fmt::format("SELECT DISTINCT object_id FROM object_names WHERE path = {}", quoted(name)),
        [&](Row row) { objects.insert(number_of(row[0])); }));
    if (!objects.empty()) {
        return objects;
    }
    std::string similar;
    TRY(each_row(database,
                 fmt::format("SELECT DISTINCT path FROM object_names WHERE ends_with(path, {}) "
                             "ORDER BY 1 LIMIT {}",
                             quoted("/" + name.substr(name.rfind('/') + 1)),
                             kSimilarNamesMax),
                 [&](Row row) { similar += fmt::format(" {}", row[0].text); }));
    return Error(ErrorCode::kNotFound,
                 fmt::format("nothing in '{}' was ever called '{}'{}{}",
                             database.path(),
                             path,
                             similar.empty() ? "" : "; did you mean",
                             similar));
}

// The part of the operation's bytes that lies in the asked range of the object.
std::optional<TrailPiece> piece_in(const Operation& operation,
                                   const Side& side,
                                   const FollowQuestion& question) {
    if (side.at == kUnknown) {
        return TrailPiece{operation.event, 0, operation.bytes};
    }
    const std::uint64_t begin = std::max(side.at, question.begin);
    const std::uint64_t end = std::min(side.at + operation.bytes, question.end);
    if (begin >= end) {
        return std::nullopt;
    }
    return TrailPiece{operation.event, begin - side.at, end - side.at};
}

class TrailReader {
  public:
    TrailReader(store::Database& database, const FollowQuestion& question)
        : database_(database), question_(question) {}

    Result<FollowTrail> read() {
        if (question_.path) {
            TRY(objects_, objects_called(database_, *question_.path));
        }
        TRY(find_starts());
        TRY(std::vector<analysis::TrailFlow> flows, load_flows());
        Trail trail(std::move(flows), question_.direction, kStepsMax);
        TRY(offer_processes(trail));
        for (const TrailPiece& start : starts_) {
            trail.start(start);
        }
        trail.walk();
        FollowTrailBuilder builder(trail, starts_, question_.direction);
        TRY(each_operation(database_, [&](const Operation& operation, std::uint64_t call) {
            builder.add(operation, call);
        }));
        FollowTrail result = builder.build(kHopsMax);
        result.question = question_text();
        result.min_certainty = question_.min_certainty;
        result.has_content = has_content_;
        result.is_cut = result.is_cut || starts_cut_;
        TRY(name_hops(result));
        TRY(find_gaps(result));
        return result;
    }

  private:
    std::optional<TrailPiece> start_of(const Operation& operation) const {
        if (operation.bytes == 0) {
            return std::nullopt;
        }
        if (question_.path) {
            const bool forward = question_.direction == Direction::kForward;
            const Side& side = forward ? operation.from : operation.to;
            return objects_.contains(side.object) ? piece_in(operation, side, question_)
                                                  : std::nullopt;
        }
        const bool is_meant = question_.event ? operation.event == *question_.event
                                              : operation.fingerprint == question_.hash;
        return is_meant ? std::optional(TrailPiece{operation.event, 0, operation.bytes})
                        : std::nullopt;
    }

    Result<void> find_starts() {
        TRY(each_operation(database_, [&](const Operation& operation, std::uint64_t) {
            has_content_ = has_content_ || operation.fingerprint.has_value();
            if (const auto start = start_of(operation); start && starts_.size() < kStartsMax) {
                starts_.push_back(*start);
            } else if (start) {
                starts_cut_ = true;
            }
        }));
        if (!starts_.empty() || question_.path) {
            return {};
        }
        return question_.event
                   ? Error(ErrorCode::kNotFound,
                           fmt::format("'{}' has no event {} that moved bytes (table events, "
                                       "column event_id)",
                                       database_.path(),
                                       *question_.event))
                   : Error(ErrorCode::kNotFound,
                           fmt::format("no event of '{}' moved bytes with the fingerprint {} "
                                       "(recorded with --content=hash?)",
                                       database_.path(),
                                       *question_.hash));
    }

    Result<std::vector<analysis::TrailFlow>> load_flows() {
        std::vector<analysis::TrailFlow> flows;
        if (starts_.empty()) {
            return flows;
        }
        TRY(each_row(database_, "SELECT bytes FROM flows LIMIT 0", [](Row) {}));  // makes it
        TRY(store::NumberScan scan,
            database_.scan_numbers(fmt::format(
                "SELECT from_event, to_event, from_begin, to_begin, from_position, to_position, "
                "bytes, rule::UBIGINT AS rule, certainty::UBIGINT AS certainty FROM "
                "internal.made_flows WHERE certainty >= {}",
                static_cast<int>(question_.min_certainty))));
        for (;;) {
            TRY(const store::NumberBatch* const batch, scan.next());
            if (batch->rows == 0) {
                return flows;
            }
            if (flows.size() + batch->rows > kFlowsMax) {
                return Error(ErrorCode::kLimitReached,
                             fmt::format("'{}' has more than {} flows, which is as many as follow "
                                         "holds: ask the table flows in SQL",
                                         database_.path(),
                                         kFlowsMax));
            }
            add_flows(*batch, flows);
        }
    }

    static void add_flows(const store::NumberBatch& batch,
                          std::vector<analysis::TrailFlow>& flows) {
        const auto& column = batch.columns;
        for (std::size_t i = 0; i < batch.rows; ++i) {
            flows.push_back({.from_event = column[0][i],
                             .to_event = column[1][i],
                             .from_begin = column[2][i],
                             .to_begin = column[3][i],
                             .from_position = static_cast<std::uint32_t>(column[4][i]),
                             .to_position = static_cast<std::uint32_t>(column[5][i]),
                             .bytes = static_cast<std::uint32_t>(column[6][i]),
                             .rule = static_cast<schema::FlowRule>(column[7][i]),
                             .certainty = static_cast<schema::Certainty>(column[8][i])});
        }
    }

    // Only when what is possible was asked for: it needs all operations in memory.
    Result<void> offer_processes(Trail& trail) {
        if (question_.min_certainty != schema::Certainty::kPossible || starts_.empty()) {
            return {};
        }
        TRY(const std::vector<analysis::ProcessLink> links, process_links(database_));
        for (const analysis::ProcessLink& link : links) {
            trail.offer(link);
        }
        return each_operation(
            database_, [&](const Operation& operation, std::uint64_t) { trail.offer(operation); });
    }

    std::string question_text() const {
        if (!question_.path) {
            return question_.event ? fmt::format("event {}", *question_.event)
                                   : fmt::format("bytes with the fingerprint {}", *question_.hash);
        }
        std::string text = *question_.path;
        if (question_.begin > 0 || question_.end != UINT64_MAX) {
            text += fmt::format(
                ", bytes {} to {}",
                question_.begin,
                question_.end == UINT64_MAX ? "the end" : std::to_string(question_.end));
        }
        return text;
    }

    Result<void> name_hops(FollowTrail& trail) {
        std::unordered_map<std::uint64_t, FollowHop*> by_event;
        std::string events;
        for (FollowHop& hop : trail.hops) {
            by_event.emplace(hop.first_event, &hop);
            events += (events.empty() ? "" : ",") + std::to_string(hop.first_event);
        }
        if (events.empty()) {
            return {};
        }
        constexpr const char* kEnds =
            "coalesce(local_address, '?') || ':' || local_port, coalesce(remote_address, '?') || "
            "':' || remote_port";
        return each_row(
            database_,
            fmt::format("SELECT event_id, comm || '[' || pid || ']', name, path, path2, "
                        "object_type = 'socket', {} FROM events WHERE event_id IN ({})",
                        kEnds,
                        events),
            [&](Row row) {
                FollowHop& hop = *by_event.at(number_of(row[0]));
                hop.who = row[1].text;
                hop.name = row[2].text;
                hop.path = row[3].text;
                hop.path2 = row[4].text;
                if (row[5].text == "true" && !row[6].text.empty() && !row[7].text.empty()) {
                    const bool sends = hop.object2 != 0;
                    hop.path =
                        fmt::format("{}→{}", row[sends ? 6 : 7].text, row[sends ? 7 : 6].text);
                }
                hop.what = hop.object == 0 || hop.object2 == 0 ? hop.path
                           : hop.name.starts_with("sendfile")
                               ? fmt::format("{} → {}", hop.path2, hop.path)
                               : fmt::format("{} → {}", hop.path, hop.path2);
            });
    }

    Result<void> find_gaps(FollowTrail& trail) {
        if (trail.hops.empty()) {
            return {};
        }
        std::uint64_t start_ns = UINT64_MAX, end_ns = 0;
        for (const FollowHop& hop : trail.hops) {
            start_ns = std::min(start_ns, hop.start_ns);
            end_ns = std::max(end_ns, hop.end_ns);
        }
        return each_row(
            database_,
            fmt::format("SELECT count(*), coalesce(sum(lost), 0)::VARCHAR, bool_or(lost IS NULL) "
                        "FROM gaps WHERE begin_ns <= {} AND end_ns >= {}",
                        end_ns,
                        start_ns),
            [&](Row row) {
                if (row[0].text != "0") {
                    trail.gaps = fmt::format(
                        "{} gap(s) in this time, {} events lost{}: flows may be missing",
                        row[0].text,
                        row[1].text,
                        row[2].text == "true" ? " or more" : "");
                }
            });
    }

    store::Database& database_;
    const FollowQuestion& question_;
    std::unordered_set<std::uint64_t> objects_;
    std::vector<TrailPiece> starts_;
    bool starts_cut_ = false;
    bool has_content_ = false;
};

}  // namespace

Result<FollowTrail> read_trail(store::Database& database, const FollowQuestion& question) {
    return TrailReader(database, question).read();
}

}  // namespace dyetrace::apps
