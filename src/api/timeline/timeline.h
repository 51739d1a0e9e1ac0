// A trace as a timeline, with what its rows are called: what questions about it are answered from. `apps` makes it.
//
// Times are those of the clock that the trace is shown with, in nanoseconds since 1970.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/timeline/timeline_index.h"

namespace dyetrace::api {

enum class TimelineRowKind : std::uint8_t { kNode, kProcess, kThread };

struct TimelineRowLabel {
    TimelineRowKind kind = TimelineRowKind::kNode;
    std::uint32_t host = 0;  // in Timeline::hosts
    std::uint64_t id = 0;    // process_id or thread_id; 0: none is known
    std::string label;       // "db1", "postgres[4711]"
};

struct TimelineHost {
    std::string name;
    // The clock that is shown, less the host's own: of its events at least and at most. By that an event is found by its start_ns.
    std::int64_t ahead_min_ns = INT64_MAX, ahead_max_ns = INT64_MIN;
};

struct TimelineGap {
    std::uint32_t host = 0;
    std::uint64_t begin_ns = 0, end_ns = 0;
    std::uint64_t lost = 0;  // as far as known
    std::string reason;
};

struct Timeline {
    std::uint32_t revision = 0;  // of several of one trace each has another one
    bool is_recording = false;
    std::uint64_t begin_ns = 0, end_ns = 0;  // of the trace, of which the index may have a part
    TimelineIndex index;
    std::vector<TimelineRowLabel> rows;  // as index.rows()
    std::vector<TimelineHost> hosts;
    std::vector<TimelineGap> gaps;
    std::vector<std::string> names;  // of calls, by LaneEvent::name()
};

}  // namespace dyetrace::api
