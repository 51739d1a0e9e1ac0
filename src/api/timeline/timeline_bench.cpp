// How long a step of zooming takes, of 10 million events over a day: all of it, an hour, a second, a millisecond.
#include <benchmark/benchmark.h>

#include <map>
#include <random>

#include "api/timeline/timeline_index.h"

namespace dyetrace::api {
namespace {

constexpr std::uint64_t kEvents = 10'000'000, kDay = 86'400'000'000'000;
constexpr std::uint32_t kPixels = 1'500, kRowsShown = 60;

Lane some_lane(std::uint64_t seed, std::uint64_t events) {
    std::mt19937_64 random(seed);
    Lane lane;
    const std::uint64_t step = kDay / events;
    std::uint64_t now = random() % step;
    for (std::uint64_t i = 0; i < events; ++i) {
        const std::uint64_t duration = random() % 20 == 0 ? step / 2 : random() % 50'000 % step;
        lane.add({.begin_ns = now,
                  .end_ns = now + duration,
                  .id = seed << 32 | i,
                  .call_class = static_cast<std::uint8_t>(random() % 9),
                  .waited = 0.5});
        now += std::max(duration, random() % (2 * step));
    }
    lane.finish();
    return lane;
}

TimelineIndex some_index(std::uint32_t lanes) {
    TimelineIndex::Builder builder;
    const std::uint32_t host = builder.add_row(), process = builder.add_row(host);
    for (std::uint32_t i = 0; i < lanes; ++i) {
        builder.add_thread(process, some_lane(i + 1, kEvents / lanes));
    }
    return std::move(builder).finish();
}

const TimelineIndex& index_of(std::uint32_t lanes) {
    static std::map<std::uint32_t, TimelineIndex> indexes;
    if (const auto made = indexes.find(lanes); made != indexes.end()) {
        return made->second;
    }
    indexes.clear();
    return indexes.emplace(lanes, some_index(lanes)).first->second;
}

void build(benchmark::State& state) {
    std::size_t bytes = 0;
    for (auto _ : state) {
        bytes = some_index(static_cast<std::uint32_t>(state.range(0))).bytes();
    }
    state.counters["bytes/event"] = static_cast<double>(bytes) / kEvents;
}

// The first rows, as many as a screen has: the host, its process, and threads.
void look(benchmark::State& state) {
    const TimelineIndex& index = index_of(static_cast<std::uint32_t>(state.range(0)));
    const auto span = static_cast<std::uint64_t>(state.range(1));
    std::mt19937_64 random(1);
    std::size_t runs = 0;
    for (auto _ : state) {
        const std::uint64_t from = span >= kDay ? 0 : random() % (kDay - span);
        const TimeWindow window{.from_ns = from, .to_ns = from + span, .width = kPixels};
        const auto rows = std::min<std::size_t>(index.rows().size(), kRowsShown);
        for (std::uint32_t row = 0; row < rows; ++row) {
            runs += index.runs(row, window, TimelineColour::kClass).size();
        }
    }
    state.counters["runs"] =
        benchmark::Counter(static_cast<double>(runs), benchmark::Counter::kAvgIterations);
}

BENCHMARK(build)->ArgName("lanes")->Arg(1)->Arg(100)->Arg(10'000)->Unit(benchmark::kMillisecond);
BENCHMARK(look)
    ->ArgNames({"lanes", "ns"})
    ->ArgsProduct({{1, 100, 10'000}, {1'000'000, 1'000'000'000, 3'600'000'000'000, kDay}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace dyetrace::api
