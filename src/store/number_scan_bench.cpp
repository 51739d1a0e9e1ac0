// Ten million rows as numbers, with and without NULL: what an analysis of all events pays before it looks at one.

#include <benchmark/benchmark.h>

#include <string>

#include "store/store_fixture.h"

namespace dyetrace::store {
namespace {

constexpr std::uint64_t kRows = 10'000'000;

// The rows are like those of calls that move bytes: numbers that are always there, and some that
// are not.
constexpr const char* kSelect =
    "SELECT i::UBIGINT AS a, (i + 7)::UBIGINT AS b, CASE WHEN i % 3 <> 0 THEN i END::UBIGINT AS c, "
    "CASE WHEN i % 100 = 0 THEN i END::UBIGINT AS d FROM range(10000000) r(i)";

void scan_numbers(benchmark::State& state) {
    StoreFixture trace;
    trace.record(1, 100);
    const auto database = trace.database();
    for (auto _ : state) {
        NumberScan scan = database->scan_numbers(kSelect).value();
        std::uint64_t sum = 0, nulls = 0;
        for (;;) {
            const NumberBatch* const batch = scan.next().value();
            if (batch->rows == 0) {
                break;
            }
            for (std::size_t row = 0; row < batch->rows; ++row) {
                const auto c = batch->columns[2].optional(row), d = batch->columns[3].optional(row);
                sum +=
                    batch->columns[0][row] + batch->columns[1][row] + c.value_or(0) + d.value_or(0);
                nulls += (c ? 0 : 1) + (d ? 0 : 1);
            }
        }
        benchmark::DoNotOptimize(sum);
        benchmark::DoNotOptimize(nulls);
    }
    state.counters["rows/s"] =
        benchmark::Counter(static_cast<double>(kRows) * static_cast<double>(state.iterations()),
                           benchmark::Counter::kIsRate);
}
BENCHMARK(scan_numbers)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();

}  // namespace
}  // namespace dyetrace::store
