#include "analysis/timeline/activity.h"

#include <algorithm>
#include <bit>

namespace dyetrace::analysis {
void Activity::Vote::add(std::uint8_t other, float other_weight) {
    if (other == colour) {
        weight += other_weight;
    } else if (other_weight > weight) {
        *this = {other, other_weight - weight};
    } else {
        weight -= other_weight;
    }
}

Activity::Activity(std::uint64_t begin_ns, std::uint64_t end_ns, std::uint64_t events)
    : begin_ns_(begin_ns) {
    levels_ =
        std::min(static_cast<std::uint32_t>(std::bit_width(events / kEventsEach)), kLevelsMax);
    shift_ = static_cast<std::uint32_t>(std::bit_width((end_ns - begin_ns) >> levels_));
    buckets_.resize(std::size_t{2} << levels_);
    covers_.resize(buckets_.size());
}

void Activity::add(const LaneEvent& event) {
    const std::size_t last = (std::size_t{1} << levels_) - 1;
    const auto bucket = [&](std::uint64_t time_ns) {
        return std::min<std::size_t>((time_ns - begin_ns_) >> shift_, last);
    };
    const std::size_t first = bucket(event.begin_ns()), end = bucket(event.end_ns());
    EventSum& sum = buckets_[place(levels_, first)];
    ++sum.count;
    sum.flags |= event_flags(event);
    const auto border = [&](std::size_t index) { return begin_ns_ + (index << shift_); };
    const auto share = [&](std::uint64_t from_ns, std::uint64_t to_ns) {
        return static_cast<double>(to_ns - from_ns) / static_cast<double>(width_ns(levels_));
    };
    if (first == end) {
        return cover(place(levels_, first), event, share(event.begin_ns(), event.end_ns()));
    }
    cover(place(levels_, first), event, share(event.begin_ns(), border(first + 1)));
    cover(place(levels_, end), event, share(border(end), event.end_ns()));
    cover(first + 1, end, event);
}

// The largest buckets that are in the range and nothing else: two of a level at most.
void Activity::cover(std::size_t first, std::size_t end, const LaneEvent& event) {
    std::size_t low = place(levels_, first), high = place(levels_, end);
    for (; low < high; low /= 2, high /= 2) {
        if (low % 2 == 1) {
            cover(low++, event, 1);
        }
        if (high % 2 == 1) {
            cover(--high, event, 1);
        }
    }
}

void Activity::cover(std::size_t place, const LaneEvent& event, double share) {
    constexpr double kMoment = 1e-6;  // what takes no time has a colour, too
    Cover& cover = covers_[place];
    const double work = event.is_work() ? share : 0;
    cover.busy += static_cast<float>(share);
    cover.work += static_cast<float>(work);
    cover.ran += static_cast<float>(work * (1 - event.waited()));
    for (std::size_t i = 0; i < kTimelineColourings; ++i) {
        const auto colouring = static_cast<TimelineColour>(i);
        cover.votes[i].add(event.colour(colouring),
                           static_cast<float>(event.weight(colouring) * (share + kMoment)));
    }
}

void Activity::finish() {
    hand_down();
    sum_up();
    covers_ = {};
}

void Activity::hand_down() {
    for (std::size_t i = 2; i < covers_.size(); ++i) {
        const Cover& above = covers_[i / 2];
        Cover& cover = covers_[i];
        cover.busy += above.busy;
        cover.work += above.work;
        cover.ran += above.ran;
        for (std::size_t as = 0; as < kTimelineColourings; ++as) {
            cover.votes[as].add(above.votes[as].colour, above.votes[as].weight);
        }
    }
}

void Activity::sum_up() {
    const auto settle = [&](std::size_t i, double width_ns) {
        EventSum& sum = buckets_[i];
        sum.busy_ns = static_cast<float>(covers_[i].busy * width_ns);
        sum.work_ns = static_cast<float>(covers_[i].work * width_ns);
        sum.ran_ns = static_cast<float>(covers_[i].ran * width_ns);
        if (covers_[i].work > 0) {
            sum.flags |= TimelineRun::kWork;
        }
        for (std::size_t as = 0; as < kTimelineColourings; ++as) {
            sum.colours[as] = covers_[i].votes[as].colour;
        }
    };
    for (std::size_t i = buckets_.size(); --i > 0;) {
        if (2 * i < buckets_.size()) {
            const Cover &left = covers_[2 * i], &right = covers_[2 * i + 1];
            covers_[i] = {(left.busy + right.busy) / 2,
                          (left.work + right.work) / 2,
                          (left.ran + right.ran) / 2,
                          {}};
            for (std::size_t as = 0; as < kTimelineColourings; ++as) {
                covers_[i].votes[as] = left.votes[as];
                covers_[i].votes[as].add(right.votes[as].colour, right.votes[as].weight);
            }
            buckets_[i].count = buckets_[2 * i].count + buckets_[2 * i + 1].count;
            buckets_[i].flags = buckets_[2 * i].flags | buckets_[2 * i + 1].flags;
        }
        const auto level = static_cast<std::uint32_t>(std::bit_width(i) - 1);
        settle(i, static_cast<double>(width_ns(level)));
    }
}

bool Activity::is_fine_enough(const TimeWindow& window) const {
    return window.pixels_per_ns() * static_cast<double>(width_ns(levels_)) <= 1;
}

void Activity::draw(PixelRow& row) const {
    const TimeWindow& window = row.window();
    std::uint32_t level = levels_;
    while (level > 0 && window.pixels_per_ns() * static_cast<double>(width_ns(level - 1)) <= 1) {
        --level;
    }
    const std::uint64_t width = width_ns(level);
    const std::uint64_t from = std::max(window.from_ns, begin_ns_);
    for (std::uint64_t i = (from - begin_ns_) / width; i < std::uint64_t{1} << level; ++i) {
        const std::uint64_t begin = begin_ns_ + i * width;
        if (begin >= window.to_ns) {
            return;
        }
        const EventSum& sum = buckets_[place(level, i)];
        if (sum.count > 0 || sum.busy_ns > 0) {
            row.add(window.position(begin), window.position(begin + width), sum);
        }
    }
}

}  // namespace dyetrace::analysis
