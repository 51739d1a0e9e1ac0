// What many threads did together, as a pyramid of time: for rows that stand for thousands of them.
//
//   Activity activity(begin_ns, end_ns, events);
//   for (each event of each of the threads) activity.add(event);
//   activity.finish();
//   if (activity.is_fine_enough(window)) activity.draw(row);      else their lanes are drawn into the row
//
//   Activity later(begin_ns, later_end_ns, more_events);       of the same, of which events that begin at changed_ns or later are others now
//   later.take_over(activity, changed_ns);
//   for (each event of each that reaches later.from_ns()) later.add(event);
//   later.finish();                                             the same as if it had been told of all
//
//   level 0   ▕───────────────────────────────▏   2^k buckets long
//   level 1   ▕───────────────▏───────────────▏
//   …
//   level k   ▕─▏─▏─▏─▏─▏─▏─▏─▏─▏─▏─▏─▏─▏─▏─▏─▏   a bucket holds kEventsEach events on average, or half as many
//
// Drawing costs as many buckets as pixels. An event counts in the bucket where it begins and is busy in all that it covers; one that covers
// many is kept with the few large ones that it is made of, until finish() hands it down.
//
// Limits: times in a pixel are off by what lies in a bucket at its border; the colour is that of a vote, so that it is one which is there, and the
// one of most of the time where that is more than half of it. 40 bytes a bucket, 5 an event.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "api/timeline/pixel_row.h"

namespace dyetrace::api {

class Activity {
  public:
    static constexpr std::uint64_t kEventsEach = 16;
    static constexpr std::uint32_t kLevelsMax = 20;  // 2^20 buckets: 100 MB, 16 million events

    // Is laid out for `events` events from begin_ns to end_ns.
    Activity(std::uint64_t begin_ns, std::uint64_t end_ns, std::uint64_t events);

    // What is before the bucket of changed_ns, if both have the same begin and buckets; else nothing. Before the first event.
    void take_over(const Activity& before, std::uint64_t changed_ns);
    // Events that end earlier need not be told of.
    std::uint64_t from_ns() const { return begin_ns_ + (first_ << shift_); }

    // Two that are to be the same are told of events in the same order.
    void add(const LaneEvent& event);
    void finish();

    // A pixel of the window is not narrower than the finest bucket.
    bool is_fine_enough(const TimeWindow& window) const;
    void draw(PixelRow& row) const;
    std::size_t bytes() const {
        return buckets_.capacity() * sizeof(EventSum) + weights_.capacity() * sizeof(Weights) +
               covers_.capacity() * sizeof(Cover);
    }

  private:
    // Which colour has more than half of the weight, if any has.
    struct Vote {
        std::uint8_t colour = 0;
        float weight = 0;
        void add(std::uint8_t other, float other_weight);
    };
    struct Cover {
        float busy = 0, work = 0, ran = 0;  // threads, all the time
        Vote votes[kTimelineColourings];
    };
    using Weights = std::array<float, kTimelineColourings>;  // of votes
    // Buckets of a level that are made: from the first that changed to the last that has events.
    struct Buckets {
        std::size_t first = 0, end = 0;
        std::size_t at = 0;  // of the first, in covers_
    };

    std::uint64_t width_ns(std::uint32_t level) const {
        return std::uint64_t{1} << (shift_ + levels_ - level);
    }
    static std::size_t place(std::uint32_t level, std::size_t index) {
        return (std::size_t{1} << level) + index;
    }
    void cover(std::size_t first, std::size_t end, const LaneEvent& event);
    // `share` of the time of a bucket.
    void cover(std::size_t place, const LaneEvent& event, double share);
    void open();
    Cover* derived_cover(std::size_t place);
    Cover cover_of(std::size_t place);
    void settle(std::size_t place, const Cover& cover, double width_ns);
    void hand_down();
    void sum_up();

    std::uint64_t begin_ns_;
    std::uint32_t levels_ = 0;
    std::uint32_t shift_ = 0;          // a bucket of the finest level is 2^shift_ ns
    std::vector<EventSum> buckets_;    // as a heap: the children of i are 2i and 2i + 1; 0 is none
    std::vector<Weights> weights_;     // the same
    std::size_t first_ = 0, end_ = 0;  // buckets of the finest level that are made
    std::vector<Buckets> derived_;     // by level
    std::vector<Cover> covers_;        // of those; empty when finished
};

}  // namespace dyetrace::api
