// Where bytes went between the rows of a timeline, in a window: each on its own while they are few, else as bundles.
//
//   TimelineFlows flows(index, std::move(found));
//   flows.drawn(window, {2, 3, 7})           between rows 2, 3 and 7 and what is folded into them
//
//   row 2  ──┐                row 2  ══╗        a bundle has the flows that leave the same row in the same kBundlePixels and
//   row 3    └──▶             row 3    ╚══▶     arrive at the same other one in the same kBundlePixels
//
// A flow goes from the begin of the event that had the bytes to the end of the one that got them. What stays in a row is not drawn.
// 48 bytes a flow; drawing looks at each that begins before the window ends: 1 million take 10 ms.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "api/timeline/timeline_index.h"

namespace dyetrace::api {

struct FoundFlow {
    std::uint64_t from_event = 0, to_event = 0;
    std::uint64_t bytes = 0;
    bool is_certain = false;
};

struct DrawnFlow {
    std::uint32_t from_row = 0, to_row = 0;
    std::uint64_t from_ns = 0, to_ns = 0;  // of a bundle the mean
    std::uint64_t count = 0, bytes = 0;
    bool is_certain = false;                     // all of it
    std::uint64_t from_event = 0, to_event = 0;  // of a bundle of the first
};

class TimelineFlows {
  public:
    static constexpr std::size_t kSinglesMax = 300;  // more arrows than anybody follows
    static constexpr double kBundlePixels = 24;

    // Those of which an event is not in the index are left out.
    TimelineFlows(const TimelineIndex& index, std::span<const FoundFlow> found);

    std::size_t size() const { return flows_.size(); }

    // Rows of the index, each shown: a thread belongs to the last of them that it is in. In order of time, most bytes first
    // where they are more than kSinglesMax, of which as many are given.
    std::vector<DrawnFlow> drawn(const TimeWindow& window,
                                 std::span<const std::uint32_t> rows) const;

  private:
    struct Flow {
        std::uint32_t from_lane = 0, to_lane = 0;
        std::uint64_t from_ns = 0, to_ns = 0;
        std::uint64_t bytes = 0;  // its highest bit: it is certain
        std::uint64_t from_event = 0, to_event = 0;
    };
    static constexpr std::uint64_t kCertain = std::uint64_t{1} << 63;

    std::vector<std::uint32_t> rows_of_lanes(std::span<const std::uint32_t> rows) const;

    std::vector<TimelineRow> rows_;
    std::uint32_t lanes_ = 0;
    std::vector<Flow> flows_;  // by from_ns
};

}  // namespace dyetrace::api
