#include "analysis/timeline/timeline_index.h"

#include <algorithm>

#include "base/check.h"

namespace dyetrace::analysis {

std::uint32_t TimelineIndex::Builder::add_row(std::uint32_t parent) {
    TimelineRow row;
    row.parent = parent;
    row.first_lane = static_cast<std::uint32_t>(index_.lanes_.size());
    index_.rows_.push_back(row);
    return static_cast<std::uint32_t>(index_.rows_.size() - 1);
}

std::uint32_t TimelineIndex::Builder::add_thread(std::uint32_t parent, Lane lane) {
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
    return thread;
}

TimelineIndex TimelineIndex::Builder::finish() && {
    for (const Lane& lane : index_.lanes_) {
        const bool is_first = index_.events_ == 0;
        index_.begin_ns_ = is_first ? lane.begin_ns() : std::min(index_.begin_ns_, lane.begin_ns());
        index_.end_ns_ = std::max(index_.end_ns_, lane.end_ns());
        index_.events_ += lane.events().size();
    }
    index_.add_activities();
    return std::move(index_);
}

// A row that is all of what is above it has the same.
void TimelineIndex::add_activities() {
    for (const TimelineRow& row : rows_) {
        if (row.lanes <= kThreadsDrawn) {
            activity_of_.push_back(TimelineRow::kNone);
        } else if (row.parent != TimelineRow::kNone && rows_[row.parent].lanes == row.lanes) {
            activity_of_.push_back(activity_of_[row.parent]);
        } else {
            activity_of_.push_back(static_cast<std::uint32_t>(activities_.size()));
            activities_.push_back(activity_of(row));
        }
    }
}

Activity TimelineIndex::activity_of(const TimelineRow& row) const {
    Activity activity(row.begin_ns, row.end_ns, row.events);
    for (const Lane& lane : lanes_of(row)) {
        for (const LaneEvent& event : lane.events()) {
            activity.add(event);
        }
    }
    activity.finish();
    return activity;
}

std::size_t TimelineIndex::bytes() const {
    std::size_t sum = 0;
    for (const Lane& lane : lanes_) {
        sum += lane.bytes();
    }
    for (const Activity& activity : activities_) {
        sum += activity.bytes();
    }
    return sum;
}

std::vector<TimelineRun> TimelineIndex::runs(std::uint32_t row,
                                             const TimeWindow& window,
                                             TimelineColour colouring) const {
    const TimelineRow& of = rows_[row];
    PixelRow pixels(window, colouring, of.lanes);
    const std::uint32_t activity = activity_of_[row];
    if (activity != TimelineRow::kNone && activities_[activity].is_fine_enough(window)) {
        activities_[activity].draw(pixels);
        return pixels.runs();
    }
    for (const Lane& lane : lanes_of(of)) {
        if (window.touches(lane.begin_ns(), lane.end_ns())) {
            lane.draw(pixels);
        }
    }
    return pixels.runs();
}

}  // namespace dyetrace::analysis
