#include "api/timeline/activity.h"

#include <algorithm>
#include <bit>

namespace dyetrace::api {
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
    weights_.resize(buckets_.size());
    end_ = ((end_ns - begin_ns) >> shift_) + 1;
    open();
}

void Activity::take_over(const Activity& before, std::uint64_t changed_ns) {
    if (before.begin_ns_ != begin_ns_ || before.levels_ != levels_ || before.shift_ != shift_) {
        return;
    }
    const std::uint64_t bucket = (std::max(changed_ns, begin_ns_) - begin_ns_) >> shift_;
    first_ = std::min<std::size_t>(bucket, end_ - 1);
    open();
    for (std::uint32_t level = 0; level <= levels_; ++level) {
        const auto copy_first = [&](const auto& from, auto& to) {
            const auto begin = from.begin() + static_cast<std::ptrdiff_t>(place(level, 0));
            std::copy(begin,
                      begin + static_cast<std::ptrdiff_t>(derived_[level].first),
                      to.begin() + static_cast<std::ptrdiff_t>(place(level, 0)));
        };
        copy_first(before.buckets_, buckets_);
        copy_first(before.weights_, weights_);
    }
}

void Activity::open() {
    derived_.resize(levels_ + 1);
    std::size_t at = 0;
    for (std::uint32_t level = 0; level <= levels_; ++level) {
        const std::uint32_t up = levels_ - level;
        derived_[level] = {.first = first_ >> up, .end = ((end_ - 1) >> up) + 1, .at = at};
        at += derived_[level].end - derived_[level].first;
    }
    covers_.assign(at, {});
}

// nullptr: it is not made.
Activity::Cover* Activity::derived_cover(std::size_t place) {
    const auto level = static_cast<std::size_t>(std::bit_width(place) - 1);
    const Buckets& made = derived_[level];
    const std::size_t index = place - (std::size_t{1} << level);
    return index < made.first || index >= made.end ? nullptr
                                                   : &covers_[made.at + index - made.first];
}

// What finish() made of it, here or, exactly, in the one that was taken over: widths are powers of two.
Activity::Cover Activity::cover_of(std::size_t place) {
    if (const Cover* const made = derived_cover(place); made != nullptr) {
        return *made;
    }
    const auto width =
        static_cast<double>(width_ns(static_cast<std::uint32_t>(std::bit_width(place) - 1)));
    const EventSum& sum = buckets_[place];
    const auto of_width = [&](float ns) { return static_cast<float>(ns / width); };
    Cover cover{.busy = of_width(sum.busy_ns),
                .work = of_width(sum.work_ns),
                .ran = of_width(sum.ran_ns),
                .votes = {}};
    for (std::size_t as = 0; as < kTimelineColourings; ++as) {
        cover.votes[as] = {sum.colours[as], weights_[place][as]};
    }
    return cover;
}

void Activity::add(const LaneEvent& event) {
    const std::size_t last = (std::size_t{1} << levels_) - 1;
    const auto bucket = [&](std::uint64_t time_ns) {
        return std::min<std::size_t>((time_ns - begin_ns_) >> shift_, last);
    };
    const std::size_t first = bucket(event.begin_ns()), end = bucket(event.end_ns());
    if (first >= first_) {
        EventSum& sum = buckets_[place(levels_, first)];
        ++sum.count;
        sum.flags |= event_flags(event);
    }
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
    Cover* const made = derived_cover(place);
    if (made == nullptr) {
        return;
    }
    Cover& cover = *made;
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
    covers_ = std::vector<Cover>();  // `= {}` would keep its memory
}

void Activity::hand_down() {
    for (std::uint32_t level = 1; level <= levels_; ++level) {
        for (std::size_t index = derived_[level].first; index < derived_[level].end; ++index) {
            const Cover& above = *derived_cover(place(level - 1, index / 2));
            Cover& cover = *derived_cover(place(level, index));
            cover.busy += above.busy;
            cover.work += above.work;
            cover.ran += above.ran;
            for (std::size_t as = 0; as < kTimelineColourings; ++as) {
                cover.votes[as].add(above.votes[as].colour, above.votes[as].weight);
            }
        }
    }
}

void Activity::settle(std::size_t place, const Cover& cover, double width_ns) {
    EventSum& sum = buckets_[place];
    sum.busy_ns = static_cast<float>(cover.busy * width_ns);
    sum.work_ns = static_cast<float>(cover.work * width_ns);
    sum.ran_ns = static_cast<float>(cover.ran * width_ns);
    if (cover.work > 0) {
        sum.flags |= TimelineRun::kWork;
    }
    for (std::size_t as = 0; as < kTimelineColourings; ++as) {
        sum.colours[as] = cover.votes[as].colour;
        weights_[place][as] = cover.votes[as].weight;
    }
}

void Activity::sum_up() {
    for (std::uint32_t level = levels_ + 1; level-- > 0;) {
        for (std::size_t index = derived_[level].first; index < derived_[level].end; ++index) {
            const std::size_t i = place(level, index);
            Cover& cover = *derived_cover(i);
            if (level < levels_) {
                const Cover left = cover_of(2 * i), right = cover_of(2 * i + 1);
                cover = {(left.busy + right.busy) / 2,
                         (left.work + right.work) / 2,
                         (left.ran + right.ran) / 2,
                         {}};
                for (std::size_t as = 0; as < kTimelineColourings; ++as) {
                    cover.votes[as] = left.votes[as];
                    cover.votes[as].add(right.votes[as].colour, right.votes[as].weight);
                }
                buckets_[i].count = buckets_[2 * i].count + buckets_[2 * i + 1].count;
                buckets_[i].flags = buckets_[2 * i].flags | buckets_[2 * i + 1].flags;
            }
            settle(i, cover, static_cast<double>(width_ns(level)));
        }
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

}  // namespace dyetrace::api
