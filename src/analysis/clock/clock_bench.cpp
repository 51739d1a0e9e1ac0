// How many messages a second one clock takes in, one core, and how long it takes to make the maps of it.

#include <benchmark/benchmark.h>

#include <cmath>
#include <random>
#include <vector>

#include "analysis/clock/cluster_clock.h"

namespace dyetrace::analysis {
namespace {

constexpr std::size_t kMessages = 1'000'000;
constexpr std::int64_t kPause = 50'000;  // ns between messages of the cluster

// Each host speaks with its neighbour in a circle, and back; delays of 20 us and a heavy tail; rates off by up to 100 ppm.
std::vector<ClockMessage> messages(std::uint32_t hosts) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> uniform(1e-6, 1);
    const auto shown = [&](std::uint32_t host, std::int64_t t) {
        const double rate = 100e-6 * (host % 7) / 7;
        return base::Instant(
            base::HostClock{host},
            t + static_cast<std::int64_t>(rate * static_cast<double>(t)) + host * 1'000'000'000LL);
    };
    std::vector<ClockMessage> made;
    for (std::size_t i = 0; i < kMessages; ++i) {
        const std::int64_t t = static_cast<std::int64_t>(i) * kPause;
        auto from = static_cast<std::uint32_t>(random() % hosts), to = (from + 1) % hosts;
        if (random() % 2 == 0) {
            std::swap(from, to);
        }
        const auto delay = static_cast<std::int64_t>(20'000 + 20'000 / std::sqrt(uniform(random)));
        made.push_back({shown(from, t), shown(to, t + delay)});
    }
    return made;
}

ClusterClock clock_of(std::uint32_t hosts) {
    ClusterClock clock;
    for (std::uint32_t host = 0; host < hosts; ++host) {
        clock.add_host({.host = host});
    }
    return clock;
}

void take_messages(benchmark::State& state) {
    const auto hosts = static_cast<std::uint32_t>(state.range(0));
    const std::vector<ClockMessage> all = messages(hosts);
    std::size_t corners = 0;
    for (auto _ : state) {
        ClusterClock clock = clock_of(hosts);
        for (const ClockMessage& message : all) {
            clock.add(message);
        }
        corners = clock.corners();
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(all.size()));
    state.counters["corners"] = static_cast<double>(corners);
}
BENCHMARK(take_messages)->Arg(2)->Arg(10)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

void make_maps(benchmark::State& state) {
    const auto hosts = static_cast<std::uint32_t>(state.range(0));
    ClusterClock clock = clock_of(hosts);
    for (const ClockMessage& message : messages(hosts)) {
        clock.add(message);
    }
    for (auto _ : state) {
        benchmark::DoNotOptimize(clock.solve());
    }
}
BENCHMARK(make_maps)->Arg(2)->Arg(10)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

void convert_times(benchmark::State& state) {
    ClusterClock clock = clock_of(2);
    for (const ClockMessage& message : messages(2)) {
        clock.add(message);
    }
    const ClockSolution solution = clock.solve();
    std::int64_t t = 0;
    for (auto _ : state) {
        t = (t + 7'919'000) % (static_cast<std::int64_t>(kMessages) * kPause);
        benchmark::DoNotOptimize(
            solution.maps[1].at(base::Instant(base::HostClock{1}, 1'000'000'000 + t)));
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}
BENCHMARK(convert_times);

}  // namespace
}  // namespace dyetrace::analysis
