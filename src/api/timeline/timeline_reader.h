// Reads a trace, or what a condition leaves of it, as a timeline.
//
//   const TimelineRequest request{.where = "class = 'file'", .clock = "wall"};
//   TRY(const TimelineRead first, read_timeline(database, request, nullptr, progress, cancelled));
//   … it is being recorded; database.refresh() …
//   TRY(const TimelineRead second, read_timeline(database, request, &first, progress, cancelled));      reads what came since
//
// Events are read in the order in which they lie on disk: 10 million in 4 to 5 s (docs/timeline.md). Parts of calls are left out;
// a call that never returned ends where its thread does, or else what was seen of the trace.
//
// What there was is taken over only where it is what would be read again; else all is read, and either way the timeline is the same. All is read
// when the recording has ended; when several hosts are on one clock, which each look at the trace knows better; when a host
// has joined; when an event's thread was not known, or a fact that counts is another one now (timeline_facts.h); when a file that
// was seen is not there as it was (store/events_seen.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "api/timeline/timeline.h"
#include "api/timeline/timeline_facts.h"
#include "api/timeline/timeline_flows.h"
#include "base/result.h"
#include "store/database.h"

namespace dyetrace::api {

struct TimelineRequest {
    std::string where = {};         // in the filter language; empty: all events
    std::string clock = "cluster";  // as use_clock() was told
    std::int64_t begin_ns = 0;      // of the trace, as all of the page has it
};

// Counts all events; it is 0 of 0 where only new ones are read. Others may read it while it goes
// on.
struct TimelineProgress {
    std::atomic<std::uint64_t> read = 0;
    std::atomic<std::uint64_t> of = 0;  // events of the trace; with a condition fewer are read
};

struct TimelineRead {
    // A call that has not returned, which is drawn to an end that may move.
    struct Unfinished {
        std::uint64_t thread_id = 0;
        TimelineEvent event = {};
        bool is_drawn = false;  // in its lane, until event.end_ns
    };
    api::Timeline timeline;
    bool is_added_to = false;  // only what was new was read

    // What the next timeline of a recording goes on from.
    store::EventsSeen seen = {};
    TimelineFacts facts = {};
    std::vector<Unfinished> unfinished = {};
    std::uint64_t end_ns = 0;  // of the last event that has one
};

// `before`: what the same request gave earlier; nullptr: nothing did. kInterrupted if `cancelled` is set meanwhile.
Result<TimelineRead> read_timeline(store::Database& database,
                                   const TimelineRequest& request,
                                   const TimelineRead* before,
                                   TimelineProgress& progress,
                                   const std::atomic<bool>& cancelled);

// Where bytes went between its events, from the table `flows`, which is made if it is not there yet: that may take as long as reading the trace.
// kLimitReached: there are more than kTimelineFlowsMax.
inline constexpr std::size_t kTimelineFlowsMax = 4'000'000;  // 200 MB
Result<TimelineFlows> read_timeline_flows(store::Database& database,
                                          const api::Timeline& timeline,
                                          const std::atomic<bool>& cancelled);

}  // namespace dyetrace::api
