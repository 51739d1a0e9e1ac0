// The events of one thread, so that any stretch of them is drawn in a time that depends on the pixels, not on the events.
//
//   lane.add(event); …                 in any order
//   lane.finish();
//   lane.draw(row);                    adds what the row's window touches
//
//   sums of 64    ▕───────────────────────────────────────────────────▏
//   sums of 8     ▕─────▏ ▕──────────────▏  ▕──▏  …
//   events        ▕▏▏▕▏▏▕▏▕▏▏  ▕███▏ ▏▏▏▏▕▏ …                       in order of begin
//
// A sum says from when to when its events were. draw() looks beneath a sum only where it lies on the border of two pixels; so a row of W pixels
// costs O(W · 8 · levels). Measured (timeline_bench): 10 million events in 1,500 pixels take 3 ms at the most, whatever the zoom.
//
// 24 bytes an event and 5.7 for the sums: 300 MB for 10 million. 10^8 would be 3 GB, which is why nothing here is a pointer: both arrays can
// be files that are mapped, of which a window touches few pages.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/timeline/pixel_row.h"

namespace dyetrace::analysis {

class Lane {
  public:
    static constexpr std::size_t kFan = 8;

    void add(const TimelineEvent& event) { events_.emplace_back(event); }
    // Once, behind the last event.
    void finish();

    std::span<const LaneEvent> events() const { return events_; }
    bool empty() const { return events_.empty(); }
    std::uint64_t begin_ns() const { return events_.front().begin_ns(); }  // not of an empty one
    std::uint64_t end_ns() const { return end_ns_; }
    std::size_t bytes() const;

    void draw(PixelRow& row) const;

  private:
    struct Sum {
        std::uint64_t begin_ns = 0, end_ns = 0;  // of the first, and the latest
        EventSum sum;
    };
    static_assert(sizeof(Sum) == 40);
    // Exact times by colour, until the sum that they belong to is complete.
    struct Weights {
        double of[kTimelineColourings][kTimelineColours] = {};
        double busy_ns = 0, work_ns = 0, ran_ns = 0;
        std::uint64_t end_ns = 0;
        std::uint32_t count = 0;
        std::uint8_t flags = 0;
        void add(const LaneEvent& event);
        void add(const Weights& other);
        EventSum sum() const;
    };

    void make_sums();
    std::uint64_t begin_of(std::size_t level, std::size_t index) const;
    void draw(PixelRow& row, std::size_t level, std::size_t begin, std::size_t end) const;

    std::vector<LaneEvent> events_;
    std::vector<std::vector<Sum>> levels_;  // of 8 events, of 64, …
    std::uint64_t end_ns_ = 0;
};

}  // namespace dyetrace::analysis
