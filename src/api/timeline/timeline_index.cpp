#include "api/timeline/timeline_index.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"

namespace dyetrace::api {

std::uint32_t TimelineIndex::Builder::add_row(std::uint32_t parent) {
    TimelineRow row;
    row.parent = parent;
    row.first_lane = static_cast<std::uint32_t>(index_.lanes_.size());
    index_.rows_.push_back(row);
    return static_cast<std::uint32_t>(index_.rows_.size() - 1);
}

// What an activity was made of: the lanes of a row of the index before.
struct TimelineIndex::Before {
    const TimelineIndex* index = nullptr;
    std::span<const std::uint32_t> lanes;  // by lane
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>
        activities;  // by first lane and how many

    Before(const TimelineIndex* of, std::span<const std::uint32_t> lanes_before)
        : index(of), lanes(lanes_before) {
        for (std::size_t i = 0; of != nullptr && i < of->rows_.size(); ++i) {
            if (of->activity_of_[i] != TimelineRow::kNone) {
                const TimelineRow& row = of->rows_[i];
                activities.emplace(std::pair(row.first_lane, row.lanes), of->activity_of_[i]);
            }
        }
    }
    // That of all lanes that are those of the row now, in the same order; nullptr: there is none. `changed_ns`: from where it is another one.
    std::shared_ptr<const Activity> of(const TimelineRow& row,
                                       std::span<const Lane> now,
                                       std::uint64_t& changed_ns) const;
};

std::shared_ptr<const Activity> TimelineIndex::Before::of(const TimelineRow& row,
                                                          std::span<const Lane> now,
                                                          std::uint64_t& changed_ns) const {
    std::uint32_t first = TimelineRow::kNone, count = 0;
    changed_ns = UINT64_MAX;
    for (std::uint32_t i = 0; index != nullptr && i < row.lanes; ++i) {
        const std::uint32_t lane = lanes[row.first_lane + i];
        if (lane == TimelineRow::kNone) {
            changed_ns = std::min(changed_ns, now[i].begin_ns());
            continue;
        }
        first = std::min(first, lane);
        if (lane != first + count++) {
            return nullptr;
        }
        changed_ns = std::min(changed_ns, now[i].changed_from_ns(index->lanes_[lane]));
    }
    const auto found = activities.find({first, count});
    return found == activities.end() ? nullptr : index->activities_[found->second];
}

std::uint32_t TimelineIndex::Builder::add_thread(std::uint32_t parent,
                                                 Lane lane,
                                                 std::uint32_t lane_before) {
    CHECK(!lane.empty());
    const std::uint32_t thread = add_row(parent);
    index_.rows_[thread].is_thread = true;
    for (std::uint32_t i = thread; i != TimelineRow::kNone; i = index_.rows_[i].parent) {
        TimelineRow& row = index_.rows_[i];
        ++row.lanes;
        row.events += lane.events().size();
        row.begin_ns = std::min(row.begin_ns, lane.begin_ns());
        row.end_ns = std::max(row.end_ns, lane.end_ns());
    }
    index_.lanes_.push_back(std::move(lane));
    lanes_before_.push_back(lane_before);
    return thread;
}

TimelineIndex TimelineIndex::Builder::finish(const TimelineIndex* before) && {
    for (const Lane& lane : index_.lanes_) {
        const bool is_first = index_.events_ == 0;
        index_.begin_ns_ = is_first ? lane.begin_ns() : std::min(index_.begin_ns_, lane.begin_ns());
        index_.end_ns_ = std::max(index_.end_ns_, lane.end_ns());
        index_.events_ += lane.events().size();
    }
    index_.add_activities(Before(before, lanes_before_));
    return std::move(index_);
}

// A row that is all of what is above it has the same.
void TimelineIndex::add_activities(const Before& before) {
    for (const TimelineRow& row : rows_) {
        if (row.lanes <= kThreadsDrawn) {
            activity_of_.push_back(TimelineRow::kNone);
        } else if (row.parent != TimelineRow::kNone && rows_[row.parent].lanes == row.lanes) {
            activity_of_.push_back(activity_of_[row.parent]);
        } else {
            activity_of_.push_back(static_cast<std::uint32_t>(activities_.size()));
            activities_.push_back(activity_of(row, before));
        }
    }
}

std::shared_ptr<const Activity> TimelineIndex::activity_of(const TimelineRow& row,
                                                           const Before& before) const {
    std::uint64_t changed_ns = 0;
    auto known = before.of(row, lanes_of(row), changed_ns);
    if (known != nullptr && changed_ns == UINT64_MAX) {
        return known;
    }
    auto activity = std::make_shared<Activity>(row.begin_ns, row.end_ns, row.events);
    if (known != nullptr) {
        activity->take_over(*known, changed_ns);
    }
    for (const Lane& lane : lanes_of(row)) {
        lane.each_that_reaches(activity->from_ns(),
                               [&](const LaneEvent& event) { activity->add(event); });
    }
    activity->finish();
    return activity;
}

std::size_t TimelineIndex::bytes() const {
    std::size_t sum = 0;
    for (const Lane& lane : lanes_) {
        sum += lane.bytes();
    }
    for (const auto& activity : activities_) {
        sum += activity->bytes();
    }
    return sum;
}

std::vector<TimelineRun> TimelineIndex::runs(std::uint32_t row,
                                             const TimeWindow& window,
                                             TimelineColour colouring) const {
    const TimelineRow& of = rows_[row];
    PixelRow pixels(window, colouring, of.lanes);
    const std::uint32_t activity = activity_of_[row];
    if (activity != TimelineRow::kNone && activities_[activity]->is_fine_enough(window)) {
        activities_[activity]->draw(pixels);
        return pixels.runs();
    }
    for (const Lane& lane : lanes_of(of)) {
        if (window.touches(lane.begin_ns(), lane.end_ns())) {
            lane.draw(pixels);
        }
    }
    return pixels.runs();
}

}  // namespace dyetrace::api
