// Makes hosts for tests, with threads whose calls follow each other, and causes between calls; the truth is one time that nobody sees.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <tuple>
#include <vector>

#include "analysis/causality/causal_order.h"
#include "analysis/causality/happened_before.h"

namespace dyetrace::analysis {

struct WorldCause {
    std::size_t from = 0, to = 0;  // positions in `events`
    schema::CauseRule rule = schema::CauseRule::kTcp;
};

struct World {
    std::vector<EventPlace> events;
    std::vector<std::size_t> host_of;  // of each event
    std::vector<WorldCause> causes;
    std::size_t hosts = 0;
    std::vector<std::uint64_t> offsets;  // of each host: what its clock shows at the true time 0
};

// Calls of random length, and causes that are possible in the true time if `possible`, else any.
inline World random_world(unsigned seed, bool possible) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t end) { return random() % end; };
    World world;
    world.hosts = 1 + below(3);
    std::vector<std::uint64_t> true_begin, true_end;
    for (std::size_t host = 0; host < world.hosts; ++host) {
        world.offsets.push_back(1 + below(100'000));  // clocks have nothing in common
    }
    const std::uint64_t threads = 2 + below(5);
    for (std::uint64_t thread = 0; thread < threads; ++thread) {
        const std::size_t host = below(world.hosts);
        std::uint64_t now = below(50);
        for (std::uint64_t i = below(8); i-- > 0;) {
            now += 1 + below(20);
            true_begin.push_back(now);
            now += below(30);
            true_end.push_back(now);
            world.events.push_back({.event = world.events.size() + 1,
                                    .thread = 100 + thread,
                                    .begin = true_begin.back() + world.offsets[host],
                                    .end = true_end.back() + world.offsets[host]});
            world.host_of.push_back(host);
        }
    }
    const std::uint64_t tries = world.events.empty() ? 0 : below(20);
    for (std::uint64_t i = 0; i < tries; ++i) {
        const std::size_t from = below(world.events.size()), to = below(world.events.size());
        if (world.events[from].thread != world.events[to].thread &&
            (!possible || true_begin[from] <= true_end[to])) {
            world.causes.push_back(
                {from, to, below(2) == 0 ? schema::CauseRule::kTcp : schema::CauseRule::kDatagram});
        }
    }
    return world;
}

// What hosts tell CausalOrder, sorted as it asks for.
class WorldSteps {
  public:
    explicit WorldSteps(const World& world) : steps_(world.hosts) {
        for (std::size_t i = 0; i < world.events.size(); ++i) {
            const EventPlace& event = world.events[i];
            steps_[world.host_of[i]].push_back({.kind = StepKind::kEnds,
                                                .at = event.end,
                                                .thread = event.thread,
                                                .event = event.event,
                                                .other_at = event.begin});
        }
        for (std::size_t i = 0; i < world.causes.size(); ++i) {
            const EventPlace& from = world.events[world.causes[i].from];
            const EventPlace& to = world.events[world.causes[i].to];
            const std::size_t giver = world.host_of[world.causes[i].from];
            steps_[giver].push_back({.kind = StepKind::kGives,
                                     .at = from.begin,
                                     .thread = from.thread,
                                     .event = from.event,
                                     .edge = i});
            steps_[world.host_of[world.causes[i].to]].push_back(
                {.kind = StepKind::kTakes,
                 .rule = world.causes[i].rule,
                 .other_host = static_cast<std::uint32_t>(giver),
                 .at = to.end,
                 .thread = to.thread,
                 .event = to.event,
                 .edge = i,
                 .other_event = from.event,
                 .other_thread = from.thread,
                 .other_at = from.begin});
        }
        for (auto& host : steps_) {
            std::stable_sort(host.begin(), host.end(), [](const auto& a, const auto& b) {
                return std::tie(a.at, a.kind) < std::tie(b.at, b.kind);
            });
        }
    }

    // A few at a time.
    std::vector<StepSource> sources() {
        std::vector<StepSource> sources;
        for (const std::vector<CauseStep>& host : steps_) {
            sources.emplace_back([rest = std::span<const CauseStep>(
                                      host)]() mutable -> Result<std::span<const CauseStep>> {
                const auto some = rest.first(std::min<std::size_t>(rest.size(), 3));
                rest = rest.subspan(some.size());
                return some;
            });
        }
        return sources;
    }

  private:
    std::vector<std::vector<CauseStep>> steps_;
};

// A map of the hosts' clocks that is off by `shifts` and says that it is off by `error_ns` at most.
inline ClockPieces map_of(const World& world,
                          const std::vector<std::int64_t>& shifts,
                          std::uint64_t error_ns) {
    ClockPieces clock;
    for (std::size_t host = 0; host < world.hosts; ++host) {
        const auto begin = static_cast<std::int64_t>(world.offsets[host]), end = begin + 100'000;
        const auto error = static_cast<double>(error_ns);
        clock.add({static_cast<std::uint32_t>(host)},
                  {.from_ns = begin,
                   .to_ns = end,
                   .cluster_ns = shifts[host],
                   .cluster_to_ns = shifts[host] + 100'000,
                   .below_ns = error,
                   .above_ns = error,
                   .below_to_ns = error,
                   .above_to_ns = error});
    }
    return clock;
}

inline OrderedSteps order_of(const World& world, const ClockPieces& clock = {}) {
    WorldSteps steps(world);
    CausalOrder order(steps.sources(), clock);
    OrderedSteps out;
    while (order.advance(out).value()) {
    }
    return out;
}

}  // namespace dyetrace::analysis
