#include <benchmark/benchmark.h>

#include "base/bounded_queue.h"

namespace dyetrace::base {
namespace {

void queue_passes_one_element(benchmark::State& state) {
    BoundedQueue<int> queue(8);
    int element = 1;
    for (auto _ : state) {
        benchmark::DoNotOptimize(queue.try_push(element));
        benchmark::DoNotOptimize(queue.pop());
    }
}
BENCHMARK(queue_passes_one_element);

}  // namespace
}  // namespace dyetrace::base
