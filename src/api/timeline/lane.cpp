#include "api/timeline/lane.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace dyetrace::api {
namespace {

// Events that a sum of this level is of.
std::size_t reach_of(std::size_t level) {
    return std::size_t{1} << (level + 1) * std::bit_width(Lane::kFan - 1);
}

}  // namespace

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
    if (added_.empty() && taken_out_.empty()) {
        return;
    }
    const auto is_before = [](const LaneEvent& a, const LaneEvent& b) {
        return a.begin_ns() != b.begin_ns() ? a.begin_ns() < b.begin_ns() : a.id() < b.id();
    };
    if (!std::is_sorted(added_.begin(), added_.end(), is_before)) {
        std::sort(added_.begin(), added_.end(), is_before);
    }
    const std::vector<LaneEvent>& before = content_->events;
    const auto is_taken_out = [&](const LaneEvent& event) {
        return std::find(taken_out_.begin(), taken_out_.end(), event.id()) != taken_out_.end();
    };
    auto changed = added_.empty()
                       ? before.end()
                       : std::lower_bound(before.begin(), before.end(), added_.front(), is_before);
    if (!taken_out_.empty()) {
        changed = std::min(changed, std::find_if(before.begin(), before.end(), is_taken_out));
    }
    auto made = std::make_shared<Content>();
    made->made_of = content_;
    made->changed_from_ns = std::min(changed == before.end() ? UINT64_MAX : changed->begin_ns(),
                                     added_.empty() ? UINT64_MAX : added_.front().begin_ns());
    made->events.reserve(before.size() + added_.size());
    made->events.assign(before.begin(), changed);
    std::vector<LaneEvent> rest;
    std::remove_copy_if(changed, before.end(), std::back_inserter(rest), is_taken_out);
    std::merge(rest.begin(),
               rest.end(),
               added_.begin(),
               added_.end(),
               std::back_inserter(made->events),
               is_before);
    made->make_sums(*content_, static_cast<std::size_t>(changed - before.begin()));
    content_ = std::move(made);
    added_ = std::vector<LaneEvent>();  // `= {}` would keep its memory
    taken_out_ = std::vector<std::uint64_t>();
}

std::uint64_t Lane::changed_from_ns(const Lane& before) const {
    if (content_ == before.content_) {
        return UINT64_MAX;
    }
    return content_->made_of.lock() == before.content_ ? content_->changed_from_ns : 0;
}

// All levels in one pass: a sum is complete with the eighth of what it is of. Sums of what lies before the change are those of `before`;
// the pass begins with the first sum of the highest level that is not, and so are the numbers the same as if it had begun with the first event.
void Lane::Content::make_sums(const Content& before, std::size_t changed_from) {
    for (std::size_t size = events.size(); size > kFan; size = (size + kFan - 1) / kFan) {
        const std::size_t level = levels.size();
        std::vector<Sum>& sums = levels.emplace_back();
        sums.reserve((size + kFan - 1) / kFan);
        if (level < before.levels.size()) {
            const std::vector<Sum>& made = before.levels[level];
            const std::size_t kept = changed_from / reach_of(level);
            sums.assign(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(kept));
        }
    }
    std::vector<Weights> open(levels.size() + 1);
    const auto close = [&](std::size_t level, std::size_t event) {
        std::vector<Sum>& sums = levels[level];
        const std::size_t index = event / reach_of(level);
        if (index == sums.size()) {
            sums.push_back({events[index * reach_of(level)].begin_ns(),
                            open[level].end_ns,
                            open[level].sum()});
        }
        open[level + 1].add(open[level]);
        open[level] = {};
    };
    const std::size_t unmade =
        levels.empty() ? 0 : levels.back().size() * reach_of(levels.size() - 1);
    for (std::size_t i = unmade; i < events.size(); ++i) {
        open[0].add(events[i]);
        std::size_t closed = i + 1;
        for (std::size_t level = 0; level < levels.size() && closed % kFan == 0; ++level) {
            close(level, i);
            closed /= kFan;
        }
    }
    for (std::size_t level = 0; level < levels.size(); ++level) {
        if (open[level].count > 0) {
            close(level, events.size() - 1);
        }
    }
    end_ns = open.back().end_ns;
    for (std::size_t i = 0; !levels.empty() && i < levels.back().size(); ++i) {
        end_ns = std::max(end_ns, levels.back()[i].end_ns);
    }
}

std::size_t Lane::bytes() const {
    std::size_t sum = (content_->events.capacity() + added_.capacity()) * sizeof(LaneEvent);
    for (const std::vector<Sum>& level : content_->levels) {
        sum += level.capacity() * sizeof(Sum);
    }
    return sum;
}

void Lane::draw(PixelRow& row) const {
    const std::size_t top = content_->levels.size();
    draw(row, top, 0, size_of(top));
}

// Level 0 is that of the events, level i that of levels[i - 1].
void Lane::draw(PixelRow& row, std::size_t level, std::size_t begin, std::size_t end) const {
    const TimeWindow& window = row.window();
    const std::vector<LaneEvent>& events = content_->events;
    const auto& levels = content_->levels;
    for (std::size_t i = begin; i < end; ++i) {
        if (level == 0) {
            const LaneEvent& event = events[i];
            if (event.begin_ns() >= window.to_ns) {
                return;
            }
            if (window.touches(event.begin_ns(), event.end_ns())) {
                row.add(event);
            }
            continue;
        }
        const Sum& sum = levels[level - 1][i];
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
            draw(row, level - 1, i * kFan, std::min((i + 1) * kFan, size_of(level - 1)));
        }
    }
}

}  // namespace dyetrace::api
