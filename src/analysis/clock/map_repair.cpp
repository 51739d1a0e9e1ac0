#include "analysis/clock/map_repair.h"

#include <algorithm>
#include <cmath>

namespace dyetrace::analysis {
namespace {

constexpr int kRoundsMax = 200;  // measured: 1 to 20 suffice (cluster_test, all seeds)
constexpr double kOvershoot =
    1.2;  // beyond the condition, so that the end is reached and not only approached

}  // namespace

MapRepair::MapRepair(std::vector<std::vector<ClockKnot>>& knots, std::uint32_t fixed)
    : knots_(knots), fixed_(fixed) {
    shifts_.reserve(knots.size());
    for (const auto& of_host : knots) {
        shifts_.emplace_back(of_host.size(), 0.0);
    }
}

MapRepair::Place MapRepair::place(std::uint32_t host, std::int64_t at) const {
    const std::vector<ClockKnot>& knots = knots_[host];
    const auto right = std::upper_bound(
        knots.begin(), knots.end(), at, [](std::int64_t value, const ClockKnot& knot) {
            return value < knot.host_ns;
        });
    Place made;
    made.knot = right == knots.begin() ? 0 : static_cast<std::size_t>(right - knots.begin()) - 1;
    const ClockKnot& a = knots[made.knot];
    made.base_ns = a.cluster_ns + (at - a.host_ns);
    made.rest = shifts_[host][made.knot];
    if (right != knots.begin() && right != knots.end()) {
        made.share =
            static_cast<double>(at - a.host_ns) / static_cast<double>(right->host_ns - a.host_ns);
        const double gained =
            static_cast<double>((right->cluster_ns - a.cluster_ns) - (right->host_ns - a.host_ns));
        made.rest += made.share * (gained + shifts_[host][made.knot + 1] - made.rest);
    }
    return made;
}

double MapRepair::lacking(const Condition& condition,
                          const Place& sent,
                          const Place& received) const {
    return static_cast<double>(sent.base_ns - received.base_ns) + sent.rest - received.rest +
           condition.margin_ns;
}

// Moves the knot as far as its interval goes.
void MapRepair::move(std::uint32_t host, std::size_t knot, double by) {
    const ClockKnot& of = knots_[host][knot];
    double& shift = shifts_[host][knot];
    shift = std::clamp(shift + by, std::min(shift, -of.below_ns), std::max(shift, of.above_ns));
}

void MapRepair::give_way(const Condition& condition,
                         const Place& sent,
                         const Place& received,
                         double by) {
    const auto squares = [&](std::uint32_t host, const Place& at) {
        return host == fixed_ ? 0 : (1 - at.share) * (1 - at.share) + at.share * at.share;
    };
    const double sum = squares(condition.from, sent) + squares(condition.to, received);
    const auto shift = [&](std::uint32_t host, const Place& at, double part) {
        if (host != fixed_) {
            move(host, at.knot, part * (1 - at.share));
            if (at.share > 0) {
                move(host, at.knot + 1, part * at.share);
            }
        }
    };
    if (sum > 0) {
        shift(condition.from, sent, -by / sum);
        shift(condition.to, received, by / sum);
    }
}

void MapRepair::round() {
    for (std::size_t host = 0; host < knots_.size(); ++host) {
        for (std::size_t i = 0; i < knots_[host].size(); ++i) {
            ClockKnot& knot = knots_[host][i];
            const double whole = std::round(shifts_[host][i]);
            if (whole != 0) {
                moved_.emplace_back(static_cast<std::uint32_t>(host), knot.host_ns);
            }
            knot.cluster_ns += static_cast<std::int64_t>(whole);
            knot.below_ns = std::max(knot.below_ns + whole, 0.0);
            knot.above_ns = std::max(knot.above_ns - whole, 0.0);
            shifts_[host][i] = 0;
        }
    }
}

std::uint64_t MapRepair::run(const std::vector<Condition>& conditions) {
    for (int rounds = 0; rounds < kRoundsMax; ++rounds) {
        bool all_hold = true;
        for (const Condition& condition : conditions) {
            const Place sent = place(condition.from, condition.sent_ns),
                        received = place(condition.to, condition.received_ns);
            const double by = lacking(condition, sent, received) + kRoundingNs;
            if (by > 0) {
                all_hold = false;
                give_way(condition, sent, received, kOvershoot * by);
            }
        }
        if (all_hold) {
            break;
        }
    }
    round();
    return static_cast<std::uint64_t>(
        std::count_if(conditions.begin(), conditions.end(), [&](const Condition& condition) {
            return !holds(condition);
        }));
}

bool MapRepair::holds(const Condition& condition) const {
    return lacking(condition,
                   place(condition.from, condition.sent_ns),
                   place(condition.to, condition.received_ns)) <= 0;
}

}  // namespace dyetrace::analysis
