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
Corridor::Cut Corridor::cut(double middle, double slope) const {
    Cut made{above_.touch(middle, slope), below_.touch(middle, -slope)};
    made.bottom.height = -made.bottom.height;
    return made;
}

// The slope that leaves most room: room is concave in it, and grows with it if the point above lies left of the one below.
double Corridor::widest_slope(double middle) const {
    double low = -slope_max_, high = slope_max_;
    for (int i = 0; i < kHalvings; ++i) {
        const double half = (low + high) / 2;
        const Cut made = cut(middle, half);
        (made.bottom.at > made.top.at ? low : high) = half;
    }
    return (low + high) / 2;
}

// The first slope on the way from `wanted`, which has no room, to `widest`, which has: the last one without, so that the range is not too narrow.
double Corridor::allowed_slope(double middle, double wanted, double widest) const {
    double without = wanted, with = widest;
    for (int i = 0; i < kHalvings; ++i) {
        const double half = (without + with) / 2;
        (cut(middle, half).room() < 0 ? without : with) = half;
    }
    return without;
}

Corridor::Range Corridor::at(double middle) const {
    const double upper = std::clamp(above_.highest_slope(middle), -slope_max_, slope_max_);
    const double lower = std::clamp(-below_.highest_slope(middle), -slope_max_, slope_max_);
    Cut high = cut(middle, upper), low = cut(middle, lower);
    if (high.room() < 0 || low.room() < 0) {
        const double widest = widest_slope(middle);
        const Cut best = cut(middle, widest);
        if (best.room() < 0) {
            return {.low = best.top.height, .high = best.bottom.height, .is_torn = true};
        }
        if (high.room() < 0) {
            high = cut(middle, allowed_slope(middle, upper, widest));
        }
        if (low.room() < 0) {
            low = cut(middle, allowed_slope(middle, lower, widest));
        }
    }
    return {.low = std::max(low.bottom.height, -below_.reach(middle, slope_max_)),
            .high = std::min(high.top.height, above_.reach(middle, slope_max_))};
}

std::optional<Corridor::Line> Corridor::middle_line(double middle) const {
    if (!is_closed()) {
        return std::nullopt;
    }
    const double slope = widest_slope(middle);
    const Cut made = cut(middle, slope);
    if (made.room() < 0) {
        return std::nullopt;
    }
    return Line{middle, (made.top.height + made.bottom.height) / 2, slope};
}

}  // namespace dyetrace::analysis
