#include "analysis/clock/corner_conditions.h"

#include <cmath>
#include <optional>
#include <set>

namespace dyetrace::analysis {

std::vector<MapRepair::Condition> CornerConditions::corners(
    const std::vector<std::uint32_t>& hosts) const {
    std::vector<MapRepair::Condition> made;
    for (const std::uint32_t host : hosts) {
        for (const std::uint32_t index : state_.hosts[host].pairs) {
            const HostPair& pair = state_.pairs[index];
            if (pair.first() != host) {
                continue;
            }
            for (std::size_t i = 0; i < pair.stretches().size(); ++i) {
                const PairStretch& stretch = pair.stretches()[i];
                const Corridor& corridor = steps_.corridor(index, i);
                const Ceiling &above = corridor.above(), &below = corridor.below();
                const auto second = [&](double shown) { return stretch.y0 + std::llround(shown); };
                for (const Ceiling::Corner& corner : above.corners()) {
                    made.push_back({host,
                                    pair.second(),
                                    stretch.x0 + std::llround(corner.at),
                                    second(corner.at + corner.height),
                                    above.margin()});
                }
                for (const Ceiling::Corner& corner : below.corners()) {
                    made.push_back({pair.second(),
                                    host,
                                    second(corner.at - corner.height),
                                    stretch.x0 + std::llround(corner.at),
                                    below.margin()});
                }
            }
        }
    }
    return made;
}

std::vector<MapRepair::Condition> CornerConditions::unsure(
    const std::vector<std::uint32_t>& hosts) const {
    const std::set<std::uint32_t> here(hosts.begin(), hosts.end());
    std::vector<MapRepair::Condition> made;
    for (const auto& [index, sample] : state_.unsure) {
        const std::uint32_t x = state_.pairs[index].first(), y = state_.pairs[index].second();
        if (here.count(x) != 0) {
            made.push_back(sample.is_above ? MapRepair::Condition{x, y, sample.x, sample.y, 0}
                                           : MapRepair::Condition{y, x, sample.y, sample.x, 0});
        }
    }
    return made;
}

void CornerConditions::add_order(const std::vector<std::uint32_t>& hosts,
                                 const std::vector<std::vector<ClockKnot>>& knots,
                                 std::vector<MapRepair::Condition>& made) const {
    for (const std::uint32_t host : hosts) {
        const std::vector<ClockKnot>& of = knots[host];
        for (std::size_t i = 1; steps_.of(host) > 0 && i < of.size(); ++i) {
            const std::int64_t before = of[i - 1].host_ns, after = of[i].host_ns;
            if (steps_.is_unsure(host, before) || steps_.is_unsure(host, after)) {
                made.push_back({host, host, before, after, -MapRepair::kRoundingNs});
            }
        }
    }
}

// What the corridors of a host say at one of its knots, as if a message had gone both ways there.
void CornerConditions::add_at(std::uint32_t host,
                              std::int64_t at,
                              std::vector<MapRepair::Condition>& made) const {
    for (const std::uint32_t index : state_.hosts[host].pairs) {
        const HostPair& pair = state_.pairs[index];
        const bool on_first = pair.first() == host;
        const std::size_t of = pair.stretch_at(on_first, at);
        const PairStretch& stretch = pair.stretches()[of];
        if (!stretch.has_origin) {
            continue;
        }
        const double x = stretch.where(on_first, at);
        const std::int64_t on_x = stretch.x0 + std::llround(x);
        const Corridor::Range free = steps_.corridor(index, of).at(x);
        const auto add = [&](double offset, bool is_above) {
            if (!std::isfinite(offset)) {
                return;
            }
            const std::int64_t on_y = stretch.y0 + std::llround(x + offset);
            const auto common = pair.common_stretch(on_x, on_y);
            if (common.has_value() && &pair.stretches()[*common] == &stretch &&
                !steps_.is_unsure(pair.first(), on_x) && !steps_.is_unsure(pair.second(), on_y)) {
                made.push_back(is_above ? MapRepair::Condition{pair.first(),
                                                               pair.second(),
                                                               on_x,
                                                               on_y,
                                                               stretch.corridor.above().margin()}
                                        : MapRepair::Condition{pair.second(),
                                                               pair.first(),
                                                               on_y,
                                                               on_x,
                                                               stretch.corridor.below().margin()});
            }
        };
        if (!free.is_torn) {
            add(free.high, true);
            add(free.low, false);
        }
    }
}

}  // namespace dyetrace::analysis
