#include "analysis/clock/host_pair.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dyetrace::analysis {
namespace {

void put(Corridor& corridor, bool is_above, double at, double offset) {
    is_above ? corridor.keep_below(at, offset) : corridor.keep_above(at, offset);
}

// Calls visit(sample) for each corner, with the origin of the stretch.
template <class Visit>
void each_corner(const Corridor& corridor, const PairStretch& stretch, Visit&& visit) {
    for (const bool is_above : {true, false}) {
        const Ceiling& side = is_above ? corridor.above() : corridor.below();
        for (const Ceiling::Corner& corner : side.corners()) {
            const double offset = is_above ? corner.height : -corner.height;
            visit(PairSample{stretch.x0 + std::llround(corner.at),
                             stretch.y0 + std::llround(corner.at + offset),
                             is_above});
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

// Whether a curve goes by these and those in doubt.
bool HostPair::fit_with_doubts(const PairStretch& stretch,
                               std::span<const PairSample> samples) const {
    Corridor later(assumptions_.rate_apart_max, stretch.corridor.above().bend());
    for (const PairSample& sample : samples) {
        put(later, sample.is_above, stretch.at(sample.x), stretch.offset(sample));
    }
    for (const PairSample& doubt : doubts_) {
        put(later, doubt.is_above, stretch.at(doubt.x), stretch.offset(doubt));
    }
    return !later.is_closed() || later.middle_line(stretch.at(doubts_.front().x)).has_value();
}

// How many of them, which are in order, cannot have come after the step; one at the least.
std::size_t HostPair::sure_ones(const PairStretch& stretch,
                                std::span<const PairSample> samples) const {
    const auto is_sure = [&](const PairSample& sample) {
        return !fit_with_doubts(
            stretch, samples.subspan(static_cast<std::size_t>(&sample - samples.data())));
    };
    const auto unsure = std::partition_point(samples.begin(), samples.end(), is_sure);
    return std::max<std::size_t>(static_cast<std::size_t>(unsure - samples.begin()), 1);
}

HostPair::Step HostPair::take_step(const std::vector<PairSample>& remembered) {
    const PairStretch& stretch = stretches_.back();
    const PairSample& doubt = doubts_.front();
    const double old = stretch.corridor.at(stretch.at(doubt.x)).middle();
    Step step{.first_new = doubt,
              .is_up = !doubt.is_above,
              .size = std::abs(stretch.offset(doubt) - old)};
    std::vector<PairSample> samples;
    each_corner(
        stretch.corridor, stretch, [&](const PairSample& corner) { samples.push_back(corner); });
    for (const PairSample& sample : remembered) {
        if (&stretch_for(sample) == &stretch &&
            std::find(doubts_.begin(), doubts_.end(), sample) == doubts_.end()) {
            samples.push_back(sample);
        }
    }
    std::sort(samples.begin(), samples.end());
    samples.resize(sure_ones(stretch, samples));
    for (const PairSample& sample : samples) {
        step.sure_x = std::max(step.sure_x, sample.x);
        step.sure_y = std::max(step.sure_y, sample.y);
    }
    doubts_.clear();
    return step;
}

std::vector<PairSample> HostPair::begin_stretch(bool on_first,
                                                const Border& border,
                                                const std::vector<PairSample>& remembered) {
    if (stretches_.size() == kStretchesMax) {
        return {};
    }
    PairStretch& old = stretches_.back();
    old.sure = PairStretch(assumptions_).corridor;
    old.sure_x = old.sure_y = kNeverBefore;
    const auto keep_if_sure = [&](const PairSample& sample) {
        if (sample.on(on_first) <= border.sure) {
            put(*old.sure, sample.is_above, old.at(sample.x), old.offset(sample));
            old.sure_x = std::max(old.sure_x, sample.x);
            old.sure_y = std::max(old.sure_y, sample.y);
        }
    };
    each_corner(old.corridor, old, keep_if_sure);
    for (const PairSample& sample : remembered) {
        if (&stretch_for(sample) == &old) {
            keep_if_sure(sample);
        }
    }
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

bool HostPair::is_beside_last_step(const PairSample& sample) const {
    if (stretches_.size() == 1) {
        return false;
    }
    const PairStretch &before = stretches_.end()[-2], &after = stretches_.back();
    const auto is_before = [](std::int64_t at, std::int64_t border) {
        return border != kNeverAfter && at - kBesideStep < border;
    };
    return (sample.x + kBesideStep > before.sure_x || sample.y + kBesideStep > before.sure_y) &&
           (is_before(sample.x, after.proven_x) || is_before(sample.y, after.proven_y));
}

std::optional<std::size_t> HostPair::common_stretch(std::int64_t x, std::int64_t y) const {
    const std::size_t by_x = stretch_at(true, x), by_y = stretch_at(false, y);
    if (by_x == by_y) {
        return by_x;
    }
    const std::size_t before = std::min(by_x, by_y), after = std::max(by_x, by_y);
    if (after != before + 1) {
        return std::nullopt;
    }
    const PairStretch& border = stretches_[after];
    if (border.proven_x == kNeverAfter || border.proven_y == kNeverAfter) {
        return border.begins_on_first ? by_x : by_y;  // the clock that it was drawn on
    }
    const bool may_be_after =
        by_x < by_y ? x > stretches_[before].sure_x : y > stretches_[before].sure_y;
    return may_be_after ? std::optional(after) : std::nullopt;
}

}  // namespace dyetrace::analysis
