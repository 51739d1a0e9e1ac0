#include "apps/follow_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "apps/flow_maker.h"
#include "apps/follow_starts.h"
#include "apps/kinship_rows.h"

namespace dyetrace::apps {
namespace {

using analysis::Direction;
using analysis::kUnknown;
using analysis::Operation;
using analysis::Trail;
using analysis::TrailPiece;

constexpr std::size_t kFlowsMax = 16'000'000;  // 56 bytes each: 900 MB
constexpr std::size_t kStepsMax = 4'000'000;   // 48 bytes each, and what they reach: 500 MB
constexpr std::size_t kHopsMax = 10'000;       // of people's or programs' interest

class TrailReader {
  public:
    TrailReader(store::Database& database, const FollowQuestion& question)
        : database_(database), question_(question) {}

    Result<FollowTrail> read() {
        TRY(starts_, find_starts(database_, question_));
        TRY(std::vector<analysis::TrailFlow> flows, load_flows());
        Trail trail(std::move(flows), question_.direction, kStepsMax);
        TRY(offer_processes(trail));
        for (const TrailPiece& start : starts_.pieces) {
            trail.start(start);
        }
        trail.walk();
        FollowTrailBuilder builder(
            trail, starts_.pieces, question_.direction, !question_.path && !question_.event);
        TRY(each_operation(database_, [&](const Operation& operation, std::uint64_t call) {
            builder.add(operation, call);
        }));
        FollowTrail result = builder.build(kHopsMax);
        result.question = text_of(question_);
        result.min_certainty = question_.min_certainty;
        result.has_content = starts_.has_content;
        result.is_cut = result.is_cut || starts_.is_cut;
        TRY(name_hops(result));
        TRY(find_gaps(result));
        return result;
    }

  private:
    Result<std::vector<analysis::TrailFlow>> load_flows() {
        std::vector<analysis::TrailFlow> flows;
        if (starts_.pieces.empty()) {
            return flows;
        }
        TRY(each_row(database_, "SELECT bytes FROM flows LIMIT 0", [](auto) {}));  // makes it
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
        if (question_.min_certainty != schema::Certainty::kPossible || starts_.pieces.empty()) {
            return {};
        }
        TRY(const std::vector<analysis::ProcessLink> links, load_processes(database_));
        for (const analysis::ProcessLink& link : links) {
            trail.offer(link);
        }
        return each_operation(
            database_, [&](const Operation& operation, std::uint64_t) { trail.offer(operation); });
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
            [&](auto row) {
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
            [&](auto row) {
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
    FollowStarts starts_;
};

}  // namespace

Result<FollowTrail> read_trail(store::Database& database, const FollowQuestion& question) {
    return TrailReader(database, question).read();
}

}  // namespace dyetrace::apps
