#include "analysis/clock/host_knots.h"

#include <algorithm>
#include <cmath>

namespace dyetrace::analysis {
namespace {

bool is_before(const ClockKnot& a, const ClockKnot& b) {
    return a.host_ns < b.host_ns;
}

// What a knot says of another time of its clock.
ClockKnot carried(const ClockKnot& knot, std::int64_t host_ns, double rate_apart_max) {
    const std::int64_t apart = host_ns - knot.host_ns;
    const double drift = rate_apart_max * std::abs(static_cast<double>(apart));
    return {host_ns, knot.cluster_ns + apart, knot.below_ns + drift, knot.above_ns + drift};
}

void widen(ClockKnot& knot, const ClockKnot& other) {
    const auto later = static_cast<double>(other.cluster_ns - knot.cluster_ns);
    knot.below_ns = std::max(knot.below_ns, other.below_ns - later);
    knot.above_ns = std::max(knot.above_ns, other.above_ns + later);
}

}  // namespace

void sort_knots(std::vector<ClockKnot>& knots) {
    std::stable_sort(knots.begin(), knots.end(), is_before);
    knots.erase(
        std::unique(knots.begin(),
                    knots.end(),
                    [](const ClockKnot& a, const ClockKnot& b) { return a.host_ns == b.host_ns; }),
        knots.end());
}

void bridge_step(std::vector<ClockKnot>& knots, const HostCut& cut, double rate_apart_max) {
    const auto after_sure =
        std::upper_bound(knots.begin(), knots.end(), ClockKnot{cut.sure, 0, 0, 0}, is_before);
    const auto from_proven =
        std::lower_bound(knots.begin(), knots.end(), ClockKnot{cut.proven, 0, 0, 0}, is_before);
    if (after_sure == knots.begin() || from_proven == knots.end()) {
        return;
    }
    const ClockKnot old = after_sure[-1], next = *from_proven;
    for (const std::int64_t at : {old.host_ns + 1, cut.last_old, cut.begins, next.host_ns - 1}) {
        const bool is_there = std::any_of(
            after_sure, from_proven, [&](const ClockKnot& knot) { return knot.host_ns == at; });
        if (!is_there && at > old.host_ns && at < next.host_ns) {
            knots.push_back(carried(at <= cut.last_old ? old : next, at, rate_apart_max));
        }
    }
    sort_knots(knots);
    for (ClockKnot& knot : knots) {
        if (knot.host_ns > old.host_ns && knot.host_ns < next.host_ns) {
            widen(knot, carried(old, knot.host_ns, rate_apart_max));
            widen(knot, carried(next, knot.host_ns, rate_apart_max));
        }
    }
}

void add_between(std::vector<ClockKnot>& knots, std::int64_t host_ns) {
    const auto right =
        std::lower_bound(knots.begin(), knots.end(), ClockKnot{host_ns, 0, 0, 0}, is_before);
    if (right == knots.begin() || right == knots.end() || right->host_ns == host_ns) {
        return;
    }
    const ClockKnot &a = right[-1], &b = *right;
    const double share =
        static_cast<double>(host_ns - a.host_ns) / static_cast<double>(b.host_ns - a.host_ns);
    const double gained =
        static_cast<double>((b.cluster_ns - a.cluster_ns) - (b.host_ns - a.host_ns));
    const auto between = [&](double from, double to) { return from + share * (to - from); };
    knots.insert(right,
                 {host_ns,
                  a.cluster_ns + (host_ns - a.host_ns) +
                      static_cast<std::int64_t>(std::floor(share * gained)),
                  between(a.below_ns, b.below_ns),
                  between(a.above_ns, b.above_ns)});
}

void never_backwards(std::vector<ClockKnot>& knots) {
    for (std::size_t i = 1; i < knots.size(); ++i) {
        const std::int64_t back = knots[i - 1].cluster_ns - knots[i].cluster_ns;
        if (back > 0) {
            knots[i].cluster_ns += back;
            knots[i].below_ns += static_cast<double>(back);
            knots[i].above_ns = std::max(knots[i].above_ns - static_cast<double>(back), 0.0);
        }
    }
}

}  // namespace dyetrace::analysis
