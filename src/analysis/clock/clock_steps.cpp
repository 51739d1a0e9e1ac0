#include "analysis/clock/clock_steps.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

namespace dyetrace::analysis {
namespace {

using base::Instant;

constexpr std::size_t kKnotsBeside = 16;  // that tell what the clock was like beside a step
constexpr double kStepTold = 1000;  // ns: smaller ones are steps of the bounds, not of the clock

// The line through two knots, where it would be at `at`, less `at`.
double line_through(const ClockKnot& a, const ClockKnot& b, std::int64_t at) {
    const double rate =
        static_cast<double>((b.cluster_ns - a.cluster_ns) - (b.host_ns - a.host_ns)) /
        static_cast<double>(b.host_ns - a.host_ns);
    return static_cast<double>(a.cluster_ns - a.host_ns) +
           rate * static_cast<double>(at - a.host_ns);
}

double width_of(const ClockKnot& knot) {
    return knot.below_ns + knot.above_ns;
}

// The knots of one side of a cut, from it outward: without those that are wide because of the step.
std::vector<ClockKnot> settled(std::vector<ClockKnot> side) {
    side.resize(std::min(side.size(), kKnotsBeside));
    double least = Ceiling::kOpen;
    for (const ClockKnot& knot : side) {
        least = std::min(least, width_of(knot));
    }
    std::erase_if(side, [&](const ClockKnot& knot) { return !(width_of(knot) <= 2 * least); });
    return side;
}

// The stretch of this pair that a cut began; 0: it began none.
std::size_t stretch_of(const HostPair& pair, const HostCut& cut) {
    const bool on_first = pair.first() == cut.host;
    std::size_t index = pair.stretches().size() - 1;
    while (index > 0 && (pair.stretches()[index].begins_on_first != on_first ||
                         pair.stretches()[index].begins != cut.begins)) {
        --index;
    }
    return index;
}

// How much more than the old stretch allows the offset is in the new one, at the least and at the most.
std::optional<Corridor::Range> jump(const HostPair& pair, const HostCut& cut) {
    const std::size_t index = stretch_of(pair, cut);
    if (index == 0 || !pair.stretches()[index].has_origin ||
        !pair.stretches()[index - 1].has_origin) {
        return std::nullopt;
    }
    const PairStretch &old = pair.stretches()[index - 1], &next = pair.stretches()[index];
    const std::int64_t x = next.x0 + std::llround(next.where(pair.first() == cut.host, cut.proven));
    const Corridor::Range before = old.sure->at(old.at(x)), after = next.corridor.at(next.at(x));
    const double shift = static_cast<double>((next.y0 - next.x0) - (old.y0 - old.x0));
    return Corridor::Range{.low = after.low - before.high + shift,
                           .high = after.high - before.low + shift};
}

}  // namespace

// What the other pairs of the host saw: those that saw a jump, too, less those that would have seen one.
int ClockSteps::votes(const ClockState& state, const HostCut& cut, double size) {
    int sum = 0;
    for (const std::uint32_t index : state.hosts[cut.host].pairs) {
        const std::optional<Corridor::Range> seen =
            index == cut.seen_by ? std::nullopt : jump(state.pairs[index], cut);
        if (!seen.has_value()) {
            continue;
        }
        if (seen->low > 0 || seen->high < 0) {
            ++sum;
        } else if (seen->high - seen->low < size) {
            --sum;
        }
    }
    return sum;
}

ClockSteps::ClockSteps(const ClockState& state)
    : state_(state), of_host_(state.hosts.size(), 0), is_blamed_(state.cuts.size(), 0) {
    for (std::size_t i = 0; i + 1 < state.cuts.size(); i += 2) {
        const HostCut &late = state.cuts[i], &ahead = state.cuts[i + 1];
        const std::optional<Corridor::Range> seen = jump(state.pairs[late.seen_by], late);
        const double size =
            seen.has_value() ? std::max(std::abs(seen->low), std::abs(seen->high)) : 0;
        const int balance = votes(state, late, size) - votes(state, ahead, size);
        const bool was_late = balance >= 0, was_ahead = balance <= 0;
        is_blamed_[i] = was_late ? 1 : 0;
        is_blamed_[i + 1] = was_ahead ? 1 : 0;
        of_host_[late.host] += was_late ? 1 : 0;
        of_host_[ahead.host] += was_ahead ? 1 : 0;
    }
}

bool ClockSteps::is_inside(std::uint32_t host,
                           std::int64_t at,
                           std::int64_t HostCut::*before,
                           std::int64_t HostCut::*after) const {
    for (std::size_t i = 0; i < state_.cuts.size(); ++i) {
        const HostCut& cut = state_.cuts[i];
        if (cut.host == host && is_blamed_[i] && at > cut.*before && at < cut.*after) {
            return true;
        }
    }
    return false;
}

bool ClockSteps::is_in_gap(std::uint32_t host, std::int64_t at) const {
    return is_inside(host, at, &HostCut::last_old, &HostCut::begins);
}

bool ClockSteps::is_unsure(std::uint32_t host, std::int64_t at) const {
    return is_inside(host, at, &HostCut::sure, &HostCut::proven);
}

const Corridor& ClockSteps::corridor(std::uint32_t pair, std::size_t stretch) const {
    const std::vector<PairStretch>& stretches = state_.pairs[pair].stretches();
    const PairStretch& of = stretches[stretch];
    const bool may_end = stretch + 1 < stretches.size() && may_jump(pair, stretches[stretch + 1]);
    return may_end && of.sure.has_value() ? *of.sure : of.corridor;
}

// How far the lines before and after each cut are apart there, if that is more than what is not
// known of them.
std::vector<ClockStep> ClockSteps::told(const std::vector<ClockMap>& maps) const {
    std::vector<ClockStep> found;
    const auto by_time = [](const ClockKnot& knot, std::int64_t at) { return knot.host_ns < at; };
    for (std::size_t i = 0; i < state_.cuts.size(); ++i) {
        const HostCut& cut = state_.cuts[i];
        const auto& knots = maps[cut.host].knots();
        const auto left = std::lower_bound(knots.begin(), knots.end(), cut.sure, by_time);
        const auto right = std::lower_bound(knots.begin(), knots.end(), cut.proven, by_time);
        const auto before = settled({std::make_reverse_iterator(left), knots.rend()});
        const auto after = settled({right, knots.end()});
        if (!is_blamed_[i] || before.size() < 2 || after.size() < 2) {
            continue;
        }
        const double missing = line_through(after.front(), after.back(), cut.begins) -
                               line_through(before.back(), before.front(), cut.last_old);
        if (std::abs(missing) >
            std::max(kStepTold, width_of(before.front()) + width_of(after.front()))) {
            found.push_back({Instant(maps[cut.host].host(), cut.begins), std::llround(missing)});
        }
    }
    return found;
}

}  // namespace dyetrace::analysis
