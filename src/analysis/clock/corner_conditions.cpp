#include "analysis/clock/corner_conditions.h"

#include <cmath>
#include <optional>

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
            for (const PairStretch& stretch : pair.stretches()) {
                const Ceiling &above = stretch.corridor.above(), &below = stretch.corridor.below();
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

// What the corridors of a host say at one of its knots, as if a message had gone both ways there.
void CornerConditions::add_at(std::uint32_t host,
                              std::int64_t at,
                              std::vector<MapRepair::Condition>& made) const {
    for (const std::uint32_t index : state_.hosts[host].pairs) {
        const HostPair& pair = state_.pairs[index];
        const bool on_first = pair.first() == host;
        const PairStretch& stretch = pair.stretches()[pair.stretch_at(on_first, at)];
        if (!stretch.has_origin) {
            continue;
        }
        const double x = stretch.where(on_first, at);
        const std::int64_t on_x = stretch.x0 + std::llround(x);
        const Corridor::Range free = stretch.corridor.at(x);
        const auto add = [&](double offset, bool is_above) {
            if (!std::isfinite(offset)) {
                return;
            }
            const std::int64_t on_y = stretch.y0 + std::llround(x + offset);
            const auto common = pair.common_stretch(on_x, on_y);
            if (common.has_value() && &pair.stretches()[*common] == &stretch) {
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
