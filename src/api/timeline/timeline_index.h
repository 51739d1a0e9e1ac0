// All events of a trace as rows of a timeline, and a picture of any part of it that costs as much as its pixels.
//
//   TimelineIndex::Builder builder;
//   const auto host = builder.add_row();                       a host, beneath nothing
//   const auto process = builder.add_row(host);
//   const auto thread = builder.add_thread(process, std::move(lane));
//   const TimelineIndex index = std::move(builder).finish();
//   index.runs(process, {.from_ns = …, .to_ns = …, .width = 1500}, TimelineColour::kClass)
//
//   row 0  host      ▁▂▃▅▅▃▂▁▁▁▂▂▅▇      how many of its threads were in a call, as logarithm
//   row 1   process  ▁▁▂▂▂▁  ▁▁▁▂▂▂
//   row 2    thread  ▏▏██ ▏▏  ▏███▏      slices, and where several are in a pixel how much of it they take
//   row 3    thread   ▏ ▏▏▏▏  ▏ ▏▏▏
//
// A row that stands for at most kThreadsDrawn threads, or is looked at so closely that its pyramid (activity.h) is too coarse, is made of their lanes.
//
// Limits: kRowsMax rows. Memory is that of lane.h and activity.h: 35 bytes an event.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "api/timeline/activity.h"
#include "api/timeline/lane.h"

namespace dyetrace::api {

struct TimelineRow {
    static constexpr std::uint32_t kNone = UINT32_MAX;

    std::uint32_t parent = kNone;
    std::uint32_t first_lane = 0, lanes = 0;
    bool is_thread = false;
    std::uint64_t begin_ns = UINT64_MAX, end_ns = 0;  // of its events
    std::uint64_t events = 0;
};

class TimelineIndex {
  public:
    static constexpr std::uint32_t kRowsMax = 1'000'000;
    static constexpr std::uint32_t kThreadsDrawn = 32;

    class Builder;

    // Each comes after what it is beneath.
    std::span<const TimelineRow> rows() const { return rows_; }
    std::uint64_t begin_ns() const { return begin_ns_; }
    std::uint64_t end_ns() const { return end_ns_; }  // not before begin_ns()
    std::uint64_t events() const { return events_; }
    std::size_t bytes() const;

    // `row` < rows().size().
    std::vector<TimelineRun> runs(std::uint32_t row,
                                  const TimeWindow& window,
                                  TimelineColour colouring) const;
    std::span<const Lane> lanes() const { return lanes_; }
    std::span<const Lane> lanes_of(const TimelineRow& row) const {
        return std::span(lanes_).subspan(row.first_lane, row.lanes);
    }

  private:
    struct Before;

    void add_activities(const Before& before);
    std::shared_ptr<const Activity> activity_of(const TimelineRow& row, const Before& before) const;

    std::vector<TimelineRow> rows_;
    std::vector<Lane> lanes_;
    // Shared with the index that this one continues, where nothing changed.
    std::vector<std::shared_ptr<const Activity>> activities_;
    std::vector<std::uint32_t> activity_of_;  // by row; kNone: it has none
    std::uint64_t begin_ns_ = 0, end_ns_ = 0, events_ = 0;
};

class TimelineIndex::Builder {
  public:
    // Returns the row's number. Rows come in the order in which they are shown: each directly after
    // what it is beneath, or after that one's others.
    std::uint32_t add_row(std::uint32_t parent = TimelineRow::kNone);
    // `lane` is finished and has an event. `lane_before`: of which lane of the index that is continued it was a copy.
    std::uint32_t add_thread(std::uint32_t parent,
                             Lane lane,
                             std::uint32_t lane_before = TimelineRow::kNone);
    // Continues `before`: what did not change since is not made again. What comes of it is the same.
    TimelineIndex finish(const TimelineIndex* before = nullptr) &&;

  private:
    TimelineIndex index_;
    std::vector<std::uint32_t> lanes_before_;  // by lane
};

}  // namespace dyetrace::api
