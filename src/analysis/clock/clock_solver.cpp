#include "analysis/clock/clock_solver.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/clock/corner_conditions.h"
#include "analysis/clock/host_knots.h"

namespace dyetrace::analysis {
namespace {

using base::HostClock;

constexpr std::int64_t kGridFinest = 10'000'000;  // ns: what a clock's bend does in that is nothing
constexpr std::int64_t kGridCoarsest =
    1'000'000'000;                        // ns: the bend of 0.1 ppm/s makes 12 ns of it
constexpr std::int64_t kGridWanted = 64;  // instants of a short trace
constexpr std::int64_t kKnotsMax =
    1'000'000;                     // of all hosts; a coarser grid for long traces of many: 32 MB
constexpr int kRepairsMax = 40;    // a knot that moves can move others
constexpr double kAligned = 1000;  // ns: the bound on the rate makes 0.5 ns of it

}  // namespace

// Who steps least, then who speaks with most: cluster time is its clock.
// A machine without a battery begins in 1970: it should not date all others.
bool ClockSolver::knows_the_date(const ClockHost& host) {
    constexpr std::int64_t kYear2001 = 978'307'200'000'000'000;
    return host.first_ns > host.last_ns || host.first_ns + host.wall_offset_ns >= kYear2001;
}

std::uint32_t ClockSolver::choose_reference(const std::vector<std::uint32_t>& hosts) const {
    return *std::min_element(hosts.begin(), hosts.end(), [&](std::uint32_t a, std::uint32_t b) {
        const auto rank = [&](std::uint32_t host) {
            return std::tuple(!knows_the_date(state_.hosts[host].asked),
                              steps_.of(host),
                              -static_cast<std::int64_t>(state_.hosts[host].pairs.size()),
                              state_.hosts[host].asked.host);
        };
        return rank(a) < rank(b);
    });
}

std::vector<ClockSolver::Island> ClockSolver::find_islands() const {
    std::vector<Island> islands;
    std::vector<char> seen(state_.hosts.size(), 0);
    for (std::uint32_t start = 0; start < seen.size(); ++start) {
        if (seen[start]) {
            continue;
        }
        Island island;
        seen[start] = 1;
        island.hosts.push_back(start);
        for (std::size_t i = 0; i < island.hosts.size(); ++i) {
            for (const std::uint32_t pair : state_.hosts[island.hosts[i]].pairs) {
                const std::uint32_t other = state_.pairs[pair].other(island.hosts[i]);
                if (!seen[other]) {
                    seen[other] = 1;
                    island.hosts.push_back(other);
                }
            }
        }
        island.reference = choose_reference(island.hosts);
        islands.push_back(std::move(island));
    }
    const auto largest =
        std::max_element(islands.begin(), islands.end(), [](const Island& a, const Island& b) {
            return a.hosts.size() < b.hosts.size();
        });
    if (largest != islands.end()) {
        largest->is_main = true;
    }
    return islands;
}

// Reads the other host's clock off the middle of the corridor. Not if the two clocks are in different stretches: one of them stands still.
bool ClockSolver::cross(const HostPair& pair, std::uint32_t from, Moment& moment) const {
    const bool on_first = pair.first() == from;
    const std::int64_t known = moment.at[from];
    const std::size_t index = pair.stretch_at(on_first, known);
    const PairStretch& stretch = pair.stretches()[index];
    if (!stretch.has_origin) {
        return false;
    }
    std::int64_t found = 0;
    if (on_first) {
        found = stretch.y0 + (known - stretch.x0) +
                std::llround(stretch.corridor.at(stretch.at(known)).middle());
    } else {
        found =
            stretch.x0 + std::llround(stretch.first_clock(static_cast<double>(known - stretch.y0)));
    }
    const std::uint32_t other = pair.other(from);
    moment.at[other] = found;
    const auto common =
        on_first ? pair.common_stretch(known, found) : pair.common_stretch(found, known);
    const bool is_known = common == index && !steps_.is_in_gap(other, found);
    moment.is_known[other] = is_known ? 1 : 0;
    return is_known;
}

// Goes from host to host, over pairs that speak in both directions as far as they lead.
void ClockSolver::align(std::uint32_t anchor, std::int64_t at, Moment& moment) const {
    const std::size_t hosts = state_.hosts.size();
    moment.at.assign(hosts, 0);
    moment.is_known.assign(hosts, 0);
    moment.at[anchor] = at;
    moment.is_known[anchor] = 1;
    struct Way {
        std::uint32_t pair, from;
    };
    std::deque<Way> both_ways, one_way;
    const auto reach = [&](std::uint32_t host) {
        for (const std::uint32_t pair : state_.hosts[host].pairs) {
            (state_.pairs[pair].stretches().back().corridor.is_closed() ? both_ways : one_way)
                .push_back({pair, host});
        }
    };
    reach(anchor);
    while (!both_ways.empty() || !one_way.empty()) {
        auto& ways = both_ways.empty() ? one_way : both_ways;
        const Way way = ways.front();
        ways.pop_front();
        const HostPair& pair = state_.pairs[way.pair];
        const std::uint32_t other = pair.other(way.from);
        if (!moment.is_known[other] && cross(pair, way.from, moment)) {
            reach(other);
        }
    }
}

// Around a step only what is certainly of a stretch, and where it is not certain of which, what either allows.
Corridor::Range ClockSolver::range(std::uint32_t pair,
                                   std::int64_t x,
                                   std::int64_t y,
                                   std::size_t index) const {
    const std::vector<PairStretch>& stretches = state_.pairs[pair].stretches();
    const PairStretch& stretch = stretches[index];
    const auto jumps_to = [&](std::size_t next) {
        return next < stretches.size() && steps_.may_jump(pair, stretches[next]);
    };
    const auto sure_range = [&](std::size_t at) {
        const PairStretch& of = stretches[at];
        Corridor::Range range =
            of.has_origin ? steps_.corridor(pair, at).at(of.at(x)) : Corridor::Range{};
        const double shift = static_cast<double>((of.y0 - of.x0) - (stretch.y0 - stretch.x0));
        range.low += shift;
        range.high += shift;
        return range;
    };
    Corridor::Range range = sure_range(index);
    const auto join = [&](const Corridor::Range& other) {
        range.low = std::min(range.low, other.low);
        range.high = std::max(range.high, other.high);
    };
    if (jumps_to(index + 1) && (x > stretch.sure_x || y > stretch.sure_y)) {
        join(sure_range(index + 1));
    }
    if (index > 0 && jumps_to(index) && x < stretch.proven_x && y < stretch.proven_y) {
        join(sure_range(index - 1));
    }
    return range;
}

// At x the second clock is within the range: what is known of it at its own y follows with a bound on the rate.
InstantGraph ClockSolver::graph(const Island& island, const Moment& moment) const {
    std::vector<InstantGraph::Edge> edges;
    const double rate = state_.assumptions.rate_apart_max;
    for (const std::uint32_t host : island.hosts) {
        for (const std::uint32_t index : state_.hosts[host].pairs) {
            const HostPair& pair = state_.pairs[index];
            if (pair.first() != host || !moment.is_known[host] || !moment.is_known[pair.second()]) {
                continue;
            }
            const std::int64_t x = moment.at[host], y = moment.at[pair.second()];
            const std::optional<std::size_t> at = pair.common_stretch(x, y);
            if (!at.has_value() || !pair.stretches()[*at].has_origin) {
                continue;
            }
            const PairStretch& stretch = pair.stretches()[*at];
            const Corridor::Range free = range(index, x, y, *at);
            const double shown = static_cast<double>((stretch.y0 - y) + (x - stretch.x0));
            const double early = shown + std::min(free.low, free.high),
                         late = shown + std::max(free.low, free.high);
            if (std::isfinite(late)) {
                edges.push_back({host, pair.second(), late + rate * std::abs(late)});
            }
            if (std::isfinite(early)) {
                edges.push_back({pair.second(), host, -early + rate * std::abs(early)});
            }
        }
    }
    return InstantGraph(state_.hosts.size(), std::move(edges));
}

// Who is tied to the reference in one direction, or by a message to one of those: the wall clock, as far as messages allow it.
void ClockSolver::place_unbounded(const Island& island, Moment& moment, InstantGraph& graph) const {
    std::vector<double> start = moment.value;
    for (double& value : start) {
        value = std::isfinite(value) ? value : -InstantGraph::kFree;
    }
    const std::vector<double> least = graph.least(std::move(start));
    for (const std::uint32_t host : island.hosts) {
        if (moment.is_known[host] && !std::isfinite(moment.value[host])) {
            const double wall = static_cast<double>(
                moment.at[host] + state_.hosts[host].asked.wall_offset_ns - moment.cluster_ns);
            moment.value[host] = std::max(wall, least[host]);
        }
    }
    moment.value = graph.greatest(moment.value);
}

// moment.value, low and high from moment.at.
void ClockSolver::settle(const Island& island, Moment& moment) {
    const std::size_t hosts = state_.hosts.size();
    moment.cluster_ns =
        moment.at[island.reference] + state_.hosts[island.reference].asked.wall_offset_ns;
    std::vector<double> from_above(hosts, InstantGraph::kFree),
        from_below(hosts, -InstantGraph::kFree);
    from_above[island.reference] = from_below[island.reference] = 0;
    InstantGraph all = graph(island, moment);
    moment.high = all.greatest(from_above);
    moment.low = all.least(from_below);
    moment.value.assign(hosts, InstantGraph::kFree);
    bool is_whole = true;
    for (const std::uint32_t host : island.hosts) {
        if (std::isfinite(moment.high[host]) && std::isfinite(moment.low[host])) {
            moment.value[host] = (moment.high[host] + moment.low[host]) / 2;
        } else {
            is_whole = is_whole && !moment.is_known[host];
        }
    }
    if (!is_whole) {
        place_unbounded(island, moment, all);
    }
    contradictions_ += all.contradictions();
}

// Where the way over the middles led astray, so that the bound on the rate has less to carry.
bool ClockSolver::align_again(const Island& island, Moment& moment) const {
    bool moved = false;
    for (const std::uint32_t host : island.hosts) {
        if (moment.is_known[host] && std::isfinite(moment.high[host]) &&
            std::isfinite(moment.low[host]) && std::abs(moment.value[host]) > kAligned) {
            moment.at[host] -= std::llround(moment.value[host]);
            moved = true;
        }
    }
    return moved;
}

bool ClockSolver::look(const Island& island,
                       std::uint32_t anchor,
                       std::int64_t at,
                       Moment& moment) {
    align(anchor, at, moment);
    if (!moment.is_known[island.reference]) {
        return false;
    }
    const std::uint64_t before = contradictions_;
    settle(island, moment);
    const std::int64_t anchored = moment.at[anchor];
    if (align_again(island, moment)) {
        moment.at[anchor] = anchored;
        contradictions_ = before;
        settle(island, moment);
    }
    return true;
}

void ClockSolver::add_moment(const Island& island,
                             std::uint32_t anchor,
                             std::int64_t at,
                             const std::vector<std::uint32_t>& hosts) {
    Moment moment;
    if (!look(island, anchor, at, moment)) {
        return;
    }
    for (const std::uint32_t host : hosts) {
        if (moment.is_known[host] && !steps_.is_unsure(host, moment.at[host])) {
            const double value = std::round(moment.value[host]);
            const double free = island.is_main ? 0 : InstantGraph::kFree;
            knots_[host].push_back({moment.at[host],
                                    moment.cluster_ns + static_cast<std::int64_t>(value),
                                    std::max(value - moment.low[host], 0.0) + free,
                                    std::max(moment.high[host] - value, 0.0) + free});
        }
    }
}

// Gives instants of the reference's clock, over the time in which any host's clock that did not
// step has events.
std::vector<std::int64_t> ClockSolver::grid(const Island& island) {
    const ClockHost& reference = state_.hosts[island.reference].asked;
    std::int64_t first = reference.first_ns, last = reference.last_ns;
    Moment middle;
    if (look(island, island.reference, first + (last - first) / 2, middle)) {
        for (const std::uint32_t host : island.hosts) {
            const auto& of = state_.hosts[host];
            if (middle.is_known[host] && steps_.of(host) == 0 &&
                of.asked.first_ns <= of.asked.last_ns) {
                const std::int64_t shift = middle.at[island.reference] - middle.at[host];
                first = std::min(first, of.asked.first_ns + shift);
                last = std::max(last, of.asked.last_ns + shift);
            }
        }
    }
    contradictions_ = 0;
    // Away from the middle the clocks have run apart.
    const auto apart = static_cast<std::int64_t>(state_.assumptions.rate_apart_max *
                                                 static_cast<double>(last - first)) +
                       kGridFinest;
    first -= apart;
    last += apart;
    const std::int64_t hosts = static_cast<std::int64_t>(state_.hosts.size());
    const std::int64_t step =
        std::max(std::clamp((last - first) / kGridWanted, kGridFinest, kGridCoarsest),
                 (last - first) / std::max<std::int64_t>(kKnotsMax / hosts, 1));
    std::vector<std::int64_t> instants;
    for (std::int64_t at = first; at < last + step; at += step) {
        instants.push_back(at);
    }
    return instants;
}

void ClockSolver::solve_island(const Island& island) {
    const ClockHost& reference = state_.hosts[island.reference].asked;
    if (island.hosts.size() == 1 || reference.first_ns > reference.last_ns) {
        return;
    }
    for (const std::int64_t at : grid(island)) {
        add_moment(island, island.reference, at, island.hosts);
    }
    for (std::size_t i = 0; i < state_.cuts.size(); ++i) {
        const HostCut& cut = state_.cuts[i];
        if (std::find(island.hosts.begin(), island.hosts.end(), cut.host) == island.hosts.end()) {
            continue;
        }
        const std::vector<std::int64_t> instants = steps_.is_blamed(i)
                                                       ? std::vector{cut.sure, cut.proven}
                                                       : std::vector{cut.last_old, cut.begins};
        for (const std::int64_t at : instants) {
            add_moment(island, cut.host, at, {cut.host});
        }
    }
}

// Afterwards knots are in order, none is there twice, and no host's time runs backwards.
void ClockSolver::finish_knots() {
    for (std::size_t host = 0; host < knots_.size(); ++host) {
        std::vector<ClockKnot>& knots = knots_[host];
        if (knots.empty()) {
            const ClockHost& asked = state_.hosts[host].asked;
            const std::int64_t at = asked.first_ns <= asked.last_ns ? asked.first_ns : 0;
            knots.push_back(
                {at, at + asked.wall_offset_ns, InstantGraph::kFree, InstantGraph::kFree});
        }
        sort_knots(knots);
        for (std::size_t i = 0; i < state_.cuts.size(); ++i) {
            if (state_.cuts[i].host == host && steps_.is_blamed(i)) {
                bridge_step(knots, state_.cuts[i], state_.assumptions.rate_apart_max);
            }
        }
        never_backwards(knots);
    }
    for (const UnsureMessage& message : state_.unsure) {
        const HostPair& pair = state_.pairs[message.pair];
        for (const bool first : {true, false}) {
            const std::uint32_t host = first ? pair.first() : pair.second();
            const std::int64_t at = message.sample.on(first);
            if (steps_.is_unsure(host, at)) {
                add_between(knots_[host], at);
            }
        }
    }
}

// A knot that gave way to a corner may be beyond a corridor at its own instant: that is a condition then, too. So is a message beside a step
// once it does not hold; all of them from the beginning would be thousands.
std::uint64_t ClockSolver::repair(const Island& island) {
    const CornerConditions corridors(state_, steps_);
    std::vector<MapRepair::Condition> conditions = corridors.corners(island.hosts);
    corridors.add_order(island.hosts, knots_, conditions);
    std::vector<MapRepair::Condition> unsure = corridors.unsure(island.hosts);
    std::set<std::pair<std::uint32_t, std::int64_t>> moved;
    std::uint64_t failing = 0;
    for (int round = 0; round < kRepairsMax; ++round) {
        MapRepair repair(knots_, island.reference);
        failing = repair.run(conditions);
        const std::size_t before = conditions.size();
        for (const auto& knot : repair.moved()) {
            if (moved.insert(knot).second) {
                corridors.add_at(knot.first, knot.second, conditions);
            }
        }
        const auto broken =
            std::partition(unsure.begin(), unsure.end(), [&](const MapRepair::Condition& message) {
                return repair.holds(message);
            });
        failing += static_cast<std::uint64_t>(unsure.end() - broken);
        conditions.insert(conditions.end(), broken, unsure.end());
        unsure.erase(broken, unsure.end());
        if (conditions.size() == before) {
            break;
        }
    }
    return failing;
}

ClockSolution ClockSolver::solve() {
    ClockSolution solution;
    knots_.assign(state_.hosts.size(), {});
    const std::vector<Island> islands = find_islands();
    std::uint64_t cycles = 0;
    for (const Island& island : islands) {
        solve_island(island);
        cycles += std::exchange(contradictions_, 0);
    }
    finish_knots();
    for (const Island& island : islands) {
        solution.inversions += repair(island);
        if (island.is_main) {
            solution.reference = state_.hosts[island.reference].asked.host;
        }
    }
    for (std::size_t host = 0; host < knots_.size(); ++host) {
        solution.maps.emplace_back(HostClock{state_.hosts[host].asked.host},
                                   std::move(knots_[host]),
                                   state_.assumptions.rate_apart_max,
                                   state_.assumptions.wander_max_per_s);
    }
    solution.steps = steps_.told(solution.maps);
    solution.contradictions = state_.contradictions + cycles;
    solution.contradicting = state_.contradicting;
    for (std::uint32_t pair = 0; pair < state_.pairs.size(); ++pair) {
        for (const PairSample& sample : state_.pairs[pair].doubts()) {
            ++solution.contradictions;
            if (solution.contradicting.size() < ClockState::kContradictionsShown) {
                solution.contradicting.push_back(state_.message_of(pair, sample));
            }
        }
    }
    return solution;
}

}  // namespace dyetrace::analysis
