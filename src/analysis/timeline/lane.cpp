#include "analysis/timeline/lane.h"

#include <algorithm>
#include <iterator>

namespace dyetrace::analysis {

void Lane::Weights::add(const LaneEvent& event) {
    const auto duration = static_cast<double>(event.duration_ns());
    for (std::size_t i = 0; i < kTimelineColourings; ++i) {
        const auto colouring = static_cast<TimelineColour>(i);
        of[i][event.colour(colouring)] += (duration + 1) * event.weight(colouring);
    }
    busy_ns += duration;
    work_ns += event.is_work() ? duration : 0;
    ran_ns += event.is_work() ? duration * (1 - event.waited()) : 0;
    end_ns = std::max(end_ns, event.end_ns());
    ++count;
    flags |= event_flags(event);
}

void Lane::Weights::add(const Weights& other) {
    for (std::size_t i = 0; i < kTimelineColourings; ++i) {
        for (std::size_t colour = 0; colour < kTimelineColours; ++colour) {
            of[i][colour] += other.of[i][colour];
        }
    }
    busy_ns += other.busy_ns;
    work_ns += other.work_ns;
    ran_ns += other.ran_ns;
    end_ns = std::max(end_ns, other.end_ns);
    count += other.count;
    flags |= other.flags;
}

EventSum Lane::Weights::sum() const {
    EventSum sum{.count = count,
                 .busy_ns = static_cast<float>(busy_ns),
                 .work_ns = static_cast<float>(work_ns),
                 .ran_ns = static_cast<float>(ran_ns),
                 .flags = flags};
    for (std::size_t i = 0; i < kTimelineColourings; ++i) {
        sum.colours[i] = static_cast<std::uint8_t>(
            std::max_element(std::begin(of[i]), std::end(of[i])) - std::begin(of[i]));
    }
    return sum;
}

void Lane::finish() {
    const auto is_before = [](const LaneEvent& a, const LaneEvent& b) {
        return a.begin_ns() != b.begin_ns() ? a.begin_ns() < b.begin_ns() : a.id() < b.id();
    };
    if (!std::is_sorted(events_.begin(), events_.end(), is_before)) {
        std::sort(events_.begin(), events_.end(), is_before);
    }
    events_.shrink_to_fit();
    make_sums();
}

// All levels in one pass: a sum is complete with the eighth of what it is of.
void Lane::make_sums() {
    levels_.clear();
    for (std::size_t size = events_.size(); size > kFan; size = (size + kFan - 1) / kFan) {
        levels_.emplace_back().reserve((size + kFan - 1) / kFan);
    }
    std::vector<Weights> open(levels_.size() + 1);
    const auto close = [&](std::size_t level) {
        std::vector<Sum>& sums = levels_[level];
        sums.push_back({begin_of(level, sums.size()), open[level].end_ns, open[level].sum()});
        open[level + 1].add(open[level]);
        open[level] = {};
    };
    for (std::size_t i = 0; i < events_.size(); ++i) {
        open[0].add(events_[i]);
        std::size_t behind = i + 1;
        for (std::size_t level = 0; level < levels_.size() && behind % kFan == 0; ++level) {
            close(level);
            behind /= kFan;
        }
    }
    for (std::size_t level = 0; level < levels_.size(); ++level) {
        if (open[level].count > 0) {
            close(level);
        }
    }
    end_ns_ = open.back().end_ns;
}

std::uint64_t Lane::begin_of(std::size_t level, std::size_t index) const {
    for (std::size_t i = 0; i <= level; ++i) {
        index *= kFan;
    }
    return events_[index].begin_ns();
}

std::size_t Lane::bytes() const {
    std::size_t sum = events_.capacity() * sizeof(LaneEvent);
    for (const std::vector<Sum>& level : levels_) {
        sum += level.capacity() * sizeof(Sum);
    }
    return sum;
}

void Lane::draw(PixelRow& row) const {
    if (levels_.empty()) {
        draw(row, 0, 0, events_.size());
    } else {
        draw(row, levels_.size(), 0, levels_.back().size());
    }
}

// Level 0 is that of the events, level i that of levels_[i - 1].
void Lane::draw(PixelRow& row, std::size_t level, std::size_t begin, std::size_t end) const {
    const TimeWindow& window = row.window();
    for (std::size_t i = begin; i < end; ++i) {
        if (level == 0) {
            const LaneEvent& event = events_[i];
            if (event.begin_ns() >= window.to_ns) {
                return;
            }
            if (window.touches(event.begin_ns(), event.end_ns())) {
                row.add(event);
            }
            continue;
        }
        const Sum& sum = levels_[level - 1][i];
        if (sum.begin_ns >= window.to_ns) {
            return;
        }
        if (!window.touches(sum.begin_ns, sum.end_ns)) {
            continue;
        }
        const std::uint32_t pixel = row.common_pixel(sum.begin_ns, sum.end_ns);
        if (pixel != PixelRow::kNone) {
            row.add(pixel, sum.sum);
        } else {
            const std::size_t beneath = level == 1 ? events_.size() : levels_[level - 2].size();
            draw(row, level - 1, i * kFan, std::min((i + 1) * kFan, beneath));
        }
    }
}

}  // namespace dyetrace::analysis
