#include "analysis/clock/corridor.h"

#include <algorithm>
#include <cmath>

namespace dyetrace::analysis {
namespace {

constexpr int kHalvings = 40;  // of a range of slopes of 1e-3: to 1e-15, a nanosecond in ten days

}  // namespace

double Corridor::Range::middle() const {
    if (!std::isfinite(low)) {
        return high;
    }
    return std::isfinite(high) ? (low + high) / 2 : low;
}

// What is free at `middle` for the curves with this slope there.
Corridor::Cut Corridor::cut(double middle, double slope, double until) const {
    Cut made{above_.touch(middle, slope, until), below_.touch(middle, -slope, until)};
    made.bottom.height = -made.bottom.height;
    return made;
}

// The slope that leaves most room: room is concave in it, and grows with it if the point above lies left of the one below.
double Corridor::widest_slope(double middle, double until) const {
    double low = -slope_max_, high = slope_max_;
    for (int i = 0; i < kHalvings; ++i) {
        const double half = (low + high) / 2;
        const Cut made = cut(middle, half, until);
        (made.bottom.at > made.top.at ? low : high) = half;
    }
    return (low + high) / 2;
}

// The first slope on the way from `wanted`, which has no room, to `widest`, which has: the last one without, so that the range is not too narrow.
double Corridor::allowed_slope(double middle, double wanted, double widest, double until) const {
    double without = wanted, with = widest;
    for (int i = 0; i < kHalvings; ++i) {
        const double half = (without + with) / 2;
        (cut(middle, half, until).room() < 0 ? without : with) = half;
    }
    return without;
}

Corridor::Range Corridor::at(double middle, double until) const {
    const double upper = std::clamp(above_.highest_slope(middle, until), -slope_max_, slope_max_);
    const double lower = std::clamp(-below_.highest_slope(middle, until), -slope_max_, slope_max_);
    Cut high = cut(middle, upper, until), low = cut(middle, lower, until);
    if (high.room() < 0 || low.room() < 0) {
        const double widest = widest_slope(middle, until);
        const Cut best = cut(middle, widest, until);
        if (best.room() < 0) {
            return {.low = best.top.height, .high = best.bottom.height, .is_torn = true};
        }
        if (high.room() < 0) {
            high = cut(middle, allowed_slope(middle, upper, widest, until), until);
        }
        if (low.room() < 0) {
            low = cut(middle, allowed_slope(middle, lower, widest, until), until);
        }
    }
    return {.low = std::max(low.bottom.height, -below_.reach(middle, slope_max_, until)),
            .high = std::min(high.top.height, above_.reach(middle, slope_max_, until))};
}

std::optional<Corridor::Line> Corridor::middle_line(double middle) const {
    if (!is_closed()) {
        return std::nullopt;
    }
    const double slope = widest_slope(middle, Ceiling::kOpen);
    const Cut made = cut(middle, slope, Ceiling::kOpen);
    if (made.room() < 0) {
        return std::nullopt;
    }
    return Line{middle, (made.top.height + made.bottom.height) / 2, slope};
}

}  // namespace dyetrace::analysis
