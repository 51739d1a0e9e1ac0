#include "analysis/clock/clock_map.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace dyetrace::analysis {
namespace {

using base::HostClock;
using base::Instant;

constexpr double kRoundingNs = 1;  // the knots and the result are whole nanoseconds

ClusterTime around(std::int64_t cluster_ns, double below_ns, double above_ns) {
    const bool is_bounded = std::isfinite(below_ns) && std::isfinite(above_ns);
    const Instant<base::ClusterClock> time({}, cluster_ns);
    return {.time = time,
            .earliest = is_bounded ? time - std::llround(std::ceil(below_ns)) : time,
            .latest = is_bounded ? time + std::llround(std::ceil(above_ns)) : time,
            .is_bounded = is_bounded};
}

}  // namespace

ClockMap::ClockMap(HostClock host,
                   std::vector<ClockKnot> knots,
                   double rate_apart_max,
                   double wander_max_per_s)
    : host_(host),
      knots_(std::move(knots)),
      rate_apart_max_(rate_apart_max),
      wander_per_ns_(wander_max_per_s * 1e-9) {
    CHECK(!knots_.empty());
}

double ClockMap::slack_after(std::size_t knot) const {
    if (knot + 1 >= knots_.size()) {
        return kRoundingNs;
    }
    const double apart = static_cast<double>(knots_[knot + 1].host_ns - knots_[knot].host_ns);
    return std::min(wander_per_ns_ / 8 * apart * apart, rate_apart_max_ / 2 * apart) + kRoundingNs;
}

// What the first or the last knot says of a time outside.
ClockKnot ClockMap::carried(const ClockKnot& nearest, std::int64_t host_ns) const {
    const std::int64_t apart_ns = host_ns - nearest.host_ns;
    const double drift_ns = rate_apart_max_ * std::abs(static_cast<double>(apart_ns)) + kRoundingNs;
    return {host_ns,
            nearest.cluster_ns + apart_ns,
            nearest.below_ns + drift_ns,
            nearest.above_ns + drift_ns};
}

namespace {

// A host has no time below zero, and SQL's numbers of it have no sign: what a knot before its start says is said at its start.
void begin_at_start(std::vector<ClockKnot>& ends, std::vector<double>& slacks) {
    while (ends.size() > 2 && ends[1].host_ns <= 0) {
        ends.erase(ends.begin());
        slacks.erase(slacks.begin());
    }
    ClockKnot& first = ends.front();
    if (first.host_ns >= 0) {
        return;
    }
    const ClockKnot& next = ends[1];
    const double share =
        -static_cast<double>(first.host_ns) / static_cast<double>(next.host_ns - first.host_ns);
    const double gained =
        static_cast<double>((next.cluster_ns - first.cluster_ns) - (next.host_ns - first.host_ns));
    const auto between = [&](double a, double b) { return a == b ? a : a + (b - a) * share; };
    first = {0,
             first.cluster_ns - first.host_ns + std::llround(std::floor(gained * share)),
             between(first.below_ns, next.below_ns),
             between(first.above_ns, next.above_ns)};
}

}  // namespace

std::vector<ClockPiece> ClockMap::pieces(std::int64_t first_ns, std::int64_t last_ns) const {
    std::vector<ClockKnot> ends = knots_;
    std::vector<double> slacks;
    for (std::size_t i = 0; i < knots_.size(); ++i) {
        slacks.push_back(slack_after(i));
    }
    if (first_ns < ends.front().host_ns) {
        ends.insert(ends.begin(), carried(knots_.front(), first_ns));
        slacks.insert(slacks.begin(), kRoundingNs);
    }
    if (last_ns >= ends.back().host_ns) {
        ends.push_back(carried(knots_.back(), last_ns + 1));
    }
    begin_at_start(ends, slacks);
    std::vector<ClockPiece> made;
    for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
        const ClockKnot &a = ends[i], &b = ends[i + 1];
        made.push_back({a.host_ns,
                        b.host_ns,
                        a.cluster_ns,
                        b.cluster_ns,
                        a.below_ns + slacks[i],
                        a.above_ns + slacks[i],
                        b.below_ns + slacks[i],
                        b.above_ns + slacks[i]});
    }
    return made;
}

ClusterTime ClockMap::at(Instant<HostClock> instant) const {
    DCHECK(instant.clock() == host_, "the map of another host");
    const std::int64_t host_ns = instant.ns();
    const auto right = std::upper_bound(
        knots_.begin(), knots_.end(), host_ns, [](std::int64_t value, const ClockKnot& knot) {
            return value < knot.host_ns;
        });
    if (right == knots_.begin() || right == knots_.end()) {
        const ClockKnot knot =
            carried(right == knots_.begin() ? knots_.front() : knots_.back(), host_ns);
        return around(knot.cluster_ns, knot.below_ns, knot.above_ns);
    }
    const ClockKnot& a = right[-1];
    const ClockKnot& b = *right;
    const double share =
        static_cast<double>(host_ns - a.host_ns) / static_cast<double>(b.host_ns - a.host_ns);
    // The difference from the host's own pace is small: no bits of a long time are lost.
    const std::int64_t gained = (b.cluster_ns - a.cluster_ns) - (b.host_ns - a.host_ns);
    const std::int64_t cluster_ns =
        a.cluster_ns + (host_ns - a.host_ns) +
        static_cast<std::int64_t>(std::floor(static_cast<double>(gained) * share));
    const double slack = slack_after(static_cast<std::size_t>(right - knots_.begin()) - 1);
    return around(cluster_ns,
                  a.below_ns + (b.below_ns - a.below_ns) * share + slack,
                  a.above_ns + (b.above_ns - a.above_ns) * share + slack);
}

}  // namespace dyetrace::analysis
