// The events of one thread, so that any stretch of them is drawn in a time that depends on the pixels, not on the events.
//
//   lane.add(event); …                 in any order
//   lane.finish();
//   lane.draw(row);                    adds what the row's window touches
//   Lane later = lane;                 shares its events
//   later.add(event); … later.finish() has them and these: what there was is copied once, sums are made from where something changed
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

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "api/timeline/pixel_row.h"

namespace dyetrace::api {

class Lane {
  public:
    static constexpr std::size_t kFan = 8;

    void add(const TimelineEvent& event) { added_.emplace_back(event); }
    void add(const LaneEvent& event) { added_.push_back(event); }
    // The events of that id, when finish() is called.
    void take_out(std::uint64_t id) { taken_out_.push_back(id); }
    // Is called after the last event, and again if more were added; what follows sees them.
    void finish();

    std::span<const LaneEvent> events() const { return content_->events; }
    bool empty() const { return content_->events.empty() && added_.empty(); }
    std::uint64_t begin_ns() const {  // not of an empty one
        return content_->events.front().begin_ns();
    }
    std::uint64_t end_ns() const { return content_->end_ns; }
    std::size_t bytes() const;

    // `before` is what this one was a copy of. Events that began earlier are the same; UINT64_MAX: all are, 0: nobody knows.
    std::uint64_t changed_from_ns(const Lane& before) const;

    // Events that end at from_ns or later, in order.
    template <typename Take>
    void each_that_reaches(std::uint64_t from_ns, const Take& take) const {
        const std::size_t top = content_->levels.size();
        each_that_reaches(from_ns, take, top, 0, size_of(top));
    }

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

    struct Content {
        std::vector<LaneEvent> events;
        std::vector<std::vector<Sum>> levels;  // of 8 events, of 64, …
        std::uint64_t end_ns = 0;
        std::weak_ptr<const Content> made_of;
        std::uint64_t changed_from_ns = 0;

        void make_sums(const Content& before, std::size_t changed_from);
    };

    void draw(PixelRow& row, std::size_t level, std::size_t begin, std::size_t end) const;

    // How many sums there are of that level; level 0 is that of the events.
    std::size_t size_of(std::size_t level) const {
        return level == 0 ? content_->events.size() : content_->levels[level - 1].size();
    }
    template <typename Take>
    void each_that_reaches(std::uint64_t from_ns,
                           const Take& take,
                           std::size_t level,
                           std::size_t begin,
                           std::size_t end) const {
        for (std::size_t i = begin; i < end; ++i) {
            if (level == 0) {
                if (content_->events[i].end_ns() >= from_ns) {
                    take(content_->events[i]);
                }
            } else if (content_->levels[level - 1][i].end_ns >= from_ns) {
                each_that_reaches(from_ns,
                                  take,
                                  level - 1,
                                  i * kFan,
                                  std::min((i + 1) * kFan, size_of(level - 1)));
            }
        }
    }

    // Shared by the lanes of a recording's timelines, one read after the other: most threads do nothing in between.
    std::shared_ptr<const Content> content_ = std::make_shared<const Content>();
    std::vector<LaneEvent> added_;  // since
    std::vector<std::uint64_t> taken_out_;
};

}  // namespace dyetrace::api
