// Reads a trace, or what a condition leaves of it, as a timeline.
//
//   TRY(const api::Timeline timeline, read_timeline(database, {.where = "class = 'file'", .clock = "wall"}, progress, cancelled));
//
// All events are read once, in the order in which they lie on disk: 10 million in 4 to 5 s (docs/timeline.md). Parts of calls are left out;
// a call that never returned ends where its thread does, or else what was seen of its host.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "analysis/timeline/timeline_flows.h"
#include "api/timeline.h"
#include "base/result.h"
#include "store/database.h"

namespace dyetrace::apps {

struct TimelineWish {
    std::string where = {};         // in the filter language; empty: all events
    std::string clock = "cluster";  // as use_clock() was told
    std::int64_t begin_ns = 0;      // of the trace, as all of the page has it
};

// May be read by others while it goes on.
struct TimelineProgress {
    std::atomic<std::uint64_t> read = 0;
    std::atomic<std::uint64_t> of = 0;  // events of the trace; with a condition fewer are read
};

// kInterrupted if `cancelled` is set meanwhile.
Result<api::Timeline> read_timeline(store::Database& database,
                                    const TimelineWish& wish,
                                    TimelineProgress& progress,
                                    const std::atomic<bool>& cancelled);

// Where bytes went between its events, from the table `flows`, which is made if it is not there yet: that may take as long as reading the trace.
// kLimitReached: there are more than kTimelineFlowsMax.
inline constexpr std::size_t kTimelineFlowsMax = 4'000'000;  // 200 MB
Result<analysis::TimelineFlows> read_timeline_flows(store::Database& database,
                                                    const api::Timeline& timeline,
                                                    const std::atomic<bool>& cancelled);

}  // namespace dyetrace::apps
