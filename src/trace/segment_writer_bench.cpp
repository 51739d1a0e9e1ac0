// What it costs to write a record: by zstd level, into memory, so that the disk is not measured.

#include <benchmark/benchmark.h>

#include <filesystem>

#include "trace/segment_reader.h"
#include "trace/segment_writer.h"
#include "trace/synthetic_records.h"

namespace dyetrace::trace {
namespace {

constexpr std::size_t kEvents = 200'000;

class NowhereFile : public AppendFile {
  public:
    Result<void> append(std::span<const std::byte>) override { return {}; }
    Result<void> append_trailer(std::span<const std::byte>) override { return {}; }
};

struct ScratchFolder {
    std::string path =
        std::filesystem::temp_directory_path() / ("dyetrace-bench-" + std::to_string(::getpid()));
    ScratchFolder() { std::filesystem::remove_all(path); }
    ~ScratchFolder() { std::filesystem::remove_all(path); }
};

TraceInfo some_info() {
    TraceInfo info;
    info.hosts.push_back(this_host().value());
    return info;
}

void write_events(benchmark::State& state) {
    const ScratchFolder scratch;
    SyntheticRecords synthetic;
    const std::vector<std::byte> facts = synthetic.facts(0);
    const std::vector<std::byte> events = synthetic.events(0, kEvents);
    auto folder = TraceFolder::create(scratch.path, some_info()).value();
    SegmentWriterOptions options;
    options.level = static_cast<int>(state.range(0));
    options.create_file = [](const std::string&) -> Result<std::unique_ptr<AppendFile>> {
        return std::unique_ptr<AppendFile>(std::make_unique<NowhereFile>());
    };
    auto writer = SegmentWriter::create(folder, 0, options).value();
    for (auto _ : state) {
        writer.append(0, schema::Stream::kEvents, events).value();
        writer.flush().value();
    }
    const auto written = static_cast<double>(writer.totals().events);
    state.counters["events/s"] = benchmark::Counter(written, benchmark::Counter::kIsRate);
    state.counters["B/event"] = static_cast<double>(writer.totals().stored_bytes) / written;
    state.counters["raw B/event"] = static_cast<double>(writer.totals().raw_bytes) / written;
}
BENCHMARK(write_events)
    ->Arg(-20)
    ->Arg(-5)
    ->Arg(-3)
    ->Arg(-1)
    ->Arg(1)
    ->Arg(3)
    ->Unit(benchmark::kMillisecond);

void read_events(benchmark::State& state) {
    const ScratchFolder scratch;
    SyntheticRecords synthetic;
    const std::vector<std::byte> events = synthetic.events(0, kEvents);
    auto folder = TraceFolder::create(scratch.path, some_info()).value();
    auto writer = SegmentWriter::create(folder, 0).value();
    writer.append(0, schema::Stream::kEvents, events).value();
    writer.close().value();
    std::size_t count = 0;
    for (auto _ : state) {
        auto reader = SegmentReader::open(folder.segment_path(1), SegmentEnd::kComplete).value();
        for (const BlockHeader& block : reader.blocks()) {
            benchmark::DoNotOptimize(reader.read(block).value().data());
            count += block.record_count;
        }
    }
    state.counters["events/s"] =
        benchmark::Counter(static_cast<double>(count), benchmark::Counter::kIsRate);
}
BENCHMARK(read_events)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace dyetrace::trace
