#include "reports/follow/follow_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "query/flows/derived_flows.h"
#include "query/flows/event_marks.h"
#include "query/flows/lineage_rows.h"
#include "query/flows/trace_questions.h"
#include "reports/follow/follow_starts.h"

namespace dyetrace::reports {
namespace {

using analysis::Operation;
using analysis::Trail;
using analysis::TrailPiece;

class TrailReader {
  public:
    TrailReader(store::Database& database,
                const FollowQuestion& question,
                const std::atomic<bool>* cancelled)
        : database_(database),
          question_(question),
          cancelled_(cancelled),
          operations_(database, cancelled) {}

    Result<FollowTrail> read() {
        TRY(starts_, find_starts(database_, question_, operations_));
        std::vector<analysis::TrailFlow> flows;
        if (!starts_.pieces.empty()) {
            TRY(flows, query::load_flows(database_, question_.min_certainty, cancelled_));
        }
        Trail trail(std::move(flows), question_.direction, analysis::kTrailStepsMax);
        TRY(offer_processes(trail));
        for (const TrailPiece& start : starts_.pieces) {
            trail.start(start);
        }
        trail.walk();
        FollowTrailBuilder builder(
            trail, starts_.pieces, question_.direction, !question_.path && !question_.event);
        TRY(const query::SharedClock clock, query::SharedClock::of(database_));
        TRY(const auto programs, query::ProgramsRun::of(database_));
        const auto tell = [&](const Operation& operation, std::uint64_t call) {
            const std::size_t program = programs.by(operation.process, operation.start_ns);
            if (!clock.is_needed()) {
                return builder.add(operation, call, program);
            }
            Operation shown = operation;
            shown.start_ns = clock.at(operation.event, operation.start_ns);
            shown.end_ns = clock.at(operation.event, operation.end_ns);
            builder.add(shown, call, program);
        };
        TRY(operations_.each(tell));
        FollowTrail result = builder.build(question_.hops_max);
        result.question = text_of(question_);
        result.min_certainty = question_.min_certainty;
        result.has_content = starts_.has_content;
        result.files = starts_.files;
        result.is_cut = result.is_cut || starts_.is_cut;
        TRY(name_hops(result));
        TRY(find_gaps(clock, result));
        return result;
    }

  private:
    // Only when what is possible was asked for: it needs all operations in memory.
    Result<void> offer_processes(Trail& trail) {
        if (question_.min_certainty != schema::Certainty::kPossible || starts_.pieces.empty()) {
            return {};
        }
        TRY(const std::vector<analysis::ProcessLink> links, query::load_processes(database_));
        for (const analysis::ProcessLink& link : links) {
            trail.offer(link);
        }
        TRY(anchors_, query::load_anchors(database_));
        const auto offer = [&](Operation operation, std::uint64_t) {
            operation.anchors = anchors_.of(operation.event);
            trail.offer(operation);
        };
        return operations_.each(offer);
    }

    Result<void> name_hops(FollowTrail& trail) {
        std::vector<std::uint64_t> events;
        for (const FollowHop& hop : trail.hops) {
            events.push_back(hop.first_event);
        }
        TRY(const auto labels, query::labels_of_events(database_, events));
        for (FollowHop& hop : trail.hops) {
            const auto found = labels.find(hop.first_event);
            if (found == labels.end()) {
                continue;
            }
            const query::EventLabels& event = found->second;
            hop.who = event.who;
            hop.name = event.name;
            hop.path = event.path;
            hop.path2 = event.path2;
            hop.what = event.what;
            hop.host = event.host;
            hop.node = event.node;
        }
        return {};
    }

    Result<void> find_gaps(const query::SharedClock& clock, FollowTrail& trail) {
        if (trail.hops.empty()) {
            return {};
        }
        std::uint64_t start_ns = UINT64_MAX, end_ns = 0;
        for (const FollowHop& hop : trail.hops) {
            start_ns = std::min(start_ns, hop.start_ns);
            end_ns = std::max(end_ns, hop.end_ns);
        }
        TRY(trail.gaps, query::gaps_between(database_, clock, start_ns, end_ns));
        return {};
    }

    store::Database& database_;
    const FollowQuestion& question_;
    const std::atomic<bool>* const cancelled_;
    query::Operations operations_;
    FollowStarts starts_;
    query::EventMarks<analysis::Anchor> anchors_;
};

}  // namespace

Result<FollowTrail> read_trail(store::Database& database,
                               const FollowQuestion& question,
                               const std::atomic<bool>* cancelled) {
    return TrailReader(database, question, cancelled).read();
}

}  // namespace dyetrace::reports
