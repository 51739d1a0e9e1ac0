// Segment to Parquet, one core: how many events a second, and what an event takes on disk.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "store/seal.h"
#include "trace/segment_writer.h"
#include "trace/synthetic_records.h"

namespace dyetrace::store {
namespace {

constexpr std::size_t kEvents = 1'000'000;
constexpr std::size_t kDrain = 4'000;  // events of one CPU between two drains

trace::TraceFolder record(const std::string& path) {
    std::filesystem::remove_all(path);
    trace::TraceInfo info;
    info.hosts.push_back(trace::this_host().value());
    auto folder = trace::TraceFolder::create(path, info).value();
    trace::SegmentWriterOptions options;
    options.limits.records_max = 2 * kEvents;
    auto writer = trace::SegmentWriter::create(folder, 0, options).value();
    trace::SyntheticRecords records;
    for (std::uint16_t cpu = 0; cpu < 2; ++cpu) {
        writer.append(cpu, schema::Stream::kFacts, records.facts(cpu)).value();
    }
    for (std::size_t done = 0; done < kEvents; done += 2 * kDrain) {
        for (std::uint16_t cpu = 0; cpu < 2; ++cpu) {
            writer.append(cpu, schema::Stream::kEvents, records.events(cpu, kDrain)).value();
        }
    }
    writer.close().value();
    folder.finish().value();
    return folder;
}

void seal_segment(benchmark::State& state) {
    const std::string path =
        std::filesystem::temp_directory_path() / ("dyetrace-bench-" + std::to_string(::getpid()));
    SealedSegment sealed;
    for (auto _ : state) {
        state.PauseTiming();
        auto sealer = Sealer::start(record(path)).value();
        state.ResumeTiming();
        sealed = sealer.seal(1, trace::SegmentEnd::kComplete).value();
    }
    state.counters["events/s"] = benchmark::Counter(
        static_cast<double>(sealed.events) * static_cast<double>(state.iterations()),
        benchmark::Counter::kIsRate);
    state.counters["B/event"] =
        static_cast<double>(sealed.parquet_bytes) / static_cast<double>(sealed.events);
    if (std::getenv("KEEP_TRACE") == nullptr) {
        std::filesystem::remove_all(path);
    }
}
BENCHMARK(seal_segment)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();

}  // namespace
}  // namespace dyetrace::store
