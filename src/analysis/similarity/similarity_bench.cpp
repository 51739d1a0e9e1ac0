// How many anchors are compared per second: contents of 100 anchors, of which each shares half with
// the one before and the one after it.
#include <benchmark/benchmark.h>

#include "analysis/similarity/clusters.h"
#include "analysis/similarity/resemblance.h"

namespace dyetrace::analysis {
namespace {

constexpr std::uint64_t kAnchorsEach = 100;

Contents contents_of(std::uint64_t count, std::uint64_t common) {
    Items items;
    for (std::uint64_t id = 1; id <= count; ++id) {
        const auto item = items.add({.id = id, .bytes = kAnchorsEach * 1024});
        for (std::uint64_t i = 0; i < kAnchorsEach; ++i) {
            // the first ones are in all contents, like the head of a file format
            const std::uint64_t number = i < common ? i : id * kAnchorsEach / 2 + i;
            items.add_anchor(item, (number + 1) * 0x9e3779b97f4a7c15u);
        }
    }
    return std::move(items).finish();
}

void compare(benchmark::State& state) {
    const auto count = static_cast<std::uint64_t>(state.range(0));
    std::size_t pairs = 0, clusters = 0;
    for (auto _ : state) {
        const Contents contents = contents_of(count, static_cast<std::uint64_t>(state.range(1)));
        SimilarityIndex index(contents);
        Resemblances resemblances(index);
        std::vector<Resemblance> found;
        while (resemblances.next(found)) {
            pairs += found.size();
            found.clear();
        }
        clusters += clusters_of(index).size();
    }
    state.counters["anchors/s"] = benchmark::Counter(static_cast<double>(count * kAnchorsEach),
                                                     benchmark::Counter::kIsIterationInvariantRate);
    state.counters["pairs"] =
        benchmark::Counter(static_cast<double>(pairs), benchmark::Counter::kAvgIterations);
    benchmark::DoNotOptimize(clusters);
}

BENCHMARK(compare)
    ->ArgNames({"contents", "common"})
    ->ArgsProduct({{1'000, 10'000, 100'000}, {0, 5}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace dyetrace::analysis
