#include "analysis/clock/host_pair.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dyetrace::analysis {
namespace {

void put(Corridor& corridor, bool is_above, double at, double offset) {
    is_above ? corridor.keep_below(at, offset) : corridor.keep_above(at, offset);
}

// Calls visit(x, y) for each corner, as the clocks of the two hosts.
template <class Visit>
void each_corner(const PairStretch& stretch, Visit&& visit) {
    for (const bool is_above : {true, false}) {
        const Ceiling& side = is_above ? stretch.corridor.above() : stretch.corridor.below();
        for (const Ceiling::Corner& corner : side.corners()) {
            const double offset = is_above ? corner.height : -corner.height;
            const std::int64_t x = stretch.x0 + std::llround(corner.at);
            visit(x, stretch.y0 + std::llround(corner.at + offset));
        }
    }
}

}  // namespace

double PairStretch::first_clock(double shown) const {
    double found = shown;
    for (int i = 0; i < 3; ++i) {  // each time the error gets smaller by the bound on the rate
        found = shown - corridor.at(found).middle();
    }
    return found;
}

std::size_t HostPair::stretch_at(bool on_first, std::int64_t clock) const {
    std::size_t index = stretches_.size() - 1;
    while (index > 0 && stretches_[index].first(on_first) > clock) {
        --index;
    }
    return index;
}

PairStretch& HostPair::stretch_for(const PairSample& sample) {
    std::size_t index = stretches_.size() - 1;
    while (index > 0 && sample.on(stretches_[index].begins_on_first) < stretches_[index].begins) {
        --index;
    }
    return stretches_[index];
}

bool HostPair::fits(const PairStretch& stretch, const PairSample& sample) const {
    if (!stretch.has_origin) {
        return true;
    }
    const double at = stretch.at(sample.x), offset = stretch.offset(sample);
    if (stretch.line.has_value()) {
        const double allowed = stretch.line->value(at);
        if (sample.is_above ? allowed <= offset : allowed >= offset) {
            return true;
        }
    }
    const Corridor::Range range = stretch.corridor.at(at);
    return sample.is_above ? offset >= range.low : offset <= range.high;
}

void HostPair::insert(PairStretch& stretch, const PairSample& sample) const {
    if (!stretch.has_origin) {
        stretch.has_origin = true;
        stretch.x0 = sample.x;
        stretch.y0 = sample.y;
    }
    const double at = stretch.at(sample.x), offset = stretch.offset(sample);
    put(stretch.corridor, sample.is_above, at, offset);
    if (stretch.begins != kNeverBefore) {
        std::int64_t& first = stretch.begins_on_first ? stretch.first_y : stretch.first_x;
        first = std::min(first, sample.on(!stretch.begins_on_first));
    }
    const bool holds =
        stretch.line.has_value() &&
        (sample.is_above ? stretch.line->value(at) <= offset : stretch.line->value(at) >= offset);
    if (!holds) {
        stretch.line = stretch.corridor.middle_line(at);
    }
}

// If the step was real, the offset would be beyond what this message allows, as far as the rate can have changed it since.
bool HostPair::speaks_against_doubts(const PairSample& sample) const {
    if (doubts_.empty() || doubts_.front().is_above == sample.is_above) {
        return false;
    }
    const PairSample& doubt = doubts_.front();
    const double apart = static_cast<double>(sample.x - doubt.x);
    const double change = static_cast<double>((sample.y - doubt.y) - (sample.x - doubt.x));
    const double drift = assumptions_.rate_apart_max * std::abs(apart);
    return apart > 0 && (sample.is_above ? change < -drift : change > drift);
}

void HostPair::refuse_doubts(std::vector<PairSample>& refused) {
    refused.insert(refused.end(), doubts_.begin(), doubts_.end());
    doubts_.clear();
}

HostPair::Verdict HostPair::take(const PairSample& sample, std::vector<PairSample>& refused) {
    PairStretch& stretch = stretch_for(sample);
    if (fits(stretch, sample)) {
        insert(stretch, sample);
        if (speaks_against_doubts(sample)) {
            refuse_doubts(refused);
        }
        return Verdict::kTaken;
    }
    if (&stretch != &stretches_.back() || stretches_.size() == kStretchesMax) {
        refused.push_back(sample);
        return Verdict::kTaken;
    }
    if (!doubts_.empty() && doubts_.front().is_above != sample.is_above) {
        refuse_doubts(refused);
    }
    doubts_.push_back(sample);
    return doubts_.size() < kStepProof ? Verdict::kDoubtful : Verdict::kStepped;
}

// What the points from `since` on and those in doubt allow together.
std::optional<Corridor::Line> HostPair::line_with_doubts(const PairStretch& stretch,
                                                         double since,
                                                         double middle) const {
    Corridor later(assumptions_.rate_apart_max, stretch.corridor.above().bend());
    for (const bool is_above : {true, false}) {
        const Ceiling& side = is_above ? stretch.corridor.above() : stretch.corridor.below();
        for (const Ceiling::Corner& corner : side.corners()) {
            if (corner.at >= since) {
                put(later, is_above, corner.at, is_above ? corner.height : -corner.height);
            }
        }
    }
    for (const PairSample& doubt : doubts_) {
        put(later, doubt.is_above, stretch.at(doubt.x), stretch.offset(doubt));
    }
    return later.is_closed() ? later.middle_line(middle) : Corridor::Line{};
}

// The last point that cannot have come after the step.
double HostPair::last_sure(const PairStretch& stretch) const {
    std::vector<double> times;
    each_corner(stretch, [&](std::int64_t x, std::int64_t) { times.push_back(stretch.at(x)); });
    std::sort(times.begin(), times.end());
    const double middle = stretch.at(doubts_.front().x);
    const auto fitting = std::partition_point(times.begin(), times.end(), [&](double since) {
        return !line_with_doubts(stretch, since, middle).has_value();
    });
    return fitting == times.begin() ? times.front() : fitting[-1];
}

HostPair::Step HostPair::take_step() {
    const PairStretch& stretch = stretches_.back();
    const PairSample& doubt = doubts_.front();
    const double old = stretch.corridor.at(stretch.at(doubt.x)).middle();
    Step step{.first_new = doubt,
              .is_up = !doubt.is_above,
              .size = std::abs(stretch.offset(doubt) - old)};
    const std::int64_t sure = stretch.x0 + std::llround(last_sure(stretch));
    each_corner(stretch, [&](std::int64_t x, std::int64_t y) {
        if (x <= sure) {
            step.sure_x = std::max(step.sure_x, x);
            step.sure_y = std::max(step.sure_y, y);
        }
    });
    doubts_.clear();
    return step;
}

std::vector<PairSample> HostPair::begin_stretch(bool on_first, const Border& border) {
    if (stretches_.size() == kStretchesMax) {
        return {};
    }
    PairStretch& old = stretches_.back();
    old.sure_x = old.sure_y = kNeverBefore;
    each_corner(old, [&](std::int64_t x, std::int64_t y) {
        if ((on_first ? x : y) <= border.sure) {
            old.sure_x = std::max(old.sure_x, x);
            old.sure_y = std::max(old.sure_y, y);
        }
    });
    (on_first ? old.sure_x : old.sure_y) = border.sure;
    PairStretch next(assumptions_);
    next.begins_on_first = on_first;
    next.begins = border.begins;
    next.cut = border.cut;
    next.first_x = next.first_y = kNeverAfter;
    stretches_.push_back(std::move(next));
    also_begins(on_first, border);
    return std::exchange(doubts_, {});
}

void HostPair::also_begins(bool on_first, const Border& border) {
    PairStretch& last = stretches_.back();
    (on_first ? last.first_x : last.first_y) =
        std::min(border.begins, on_first ? last.first_x : last.first_y);
    (on_first ? last.proven_x : last.proven_y) = border.proven;
}

std::optional<std::size_t> HostPair::common_stretch(std::int64_t x, std::int64_t y) const {
    const std::size_t by_x = stretch_at(true, x), by_y = stretch_at(false, y);
    if (by_x == by_y) {
        return by_x;
    }
    const std::size_t before = std::min(by_x, by_y), behind = std::max(by_x, by_y);
    if (behind != before + 1) {
        return std::nullopt;
    }
    const PairStretch& border = stretches_[behind];
    if (border.proven_x == kNeverAfter || border.proven_y == kNeverAfter) {
        return border.begins_on_first ? by_x : by_y;  // the clock that it was drawn on
    }
    const bool may_be_behind =
        by_x < by_y ? x > stretches_[before].sure_x : y > stretches_[before].sure_y;
    return may_be_behind ? std::optional(behind) : std::nullopt;
}

}  // namespace dyetrace::analysis
