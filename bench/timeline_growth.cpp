// What a look at a recording's timeline costs when a little came since the last one:
//
//   timeline_growth TRACE [CLOCK]      TRACE: a copy of a sealed trace of timeline_trace, which it makes a recording again; CLOCK: wall
//
// Adds 10,000 events to host 0 five times, and each time looks, reads all anew, and reads what came since; CPU seconds and seconds of each.
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "api/timeline/timeline.h"
#include "api/timeline/timeline_reader.h"
#include "base/file.h"
#include "schema/record_builder.h"
#include "trace/segment_writer.h"
#include "trace/trace_folder.h"

namespace {

using namespace dyetrace;

constexpr int kLooks = 5, kAdded = 10'000;
constexpr std::uint32_t kThreads = 50;

double cpu_s() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

template <typename Do>
auto measured(const char* what, Do&& make) {
    const auto begin = std::chrono::steady_clock::now();
    const double cpu = cpu_s();
    auto made = make().value();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    fmt::print("  {:<24} {:6.2f} s CPU {:6.2f} s\n", what, cpu_s() - cpu, took.count());
    std::fflush(stdout);
    return made;
}

trace::TraceFolder record_again(const std::string& path) {
    const std::string info = path + "/trace.json";
    std::string text = base::read_file(info, trace::kTraceInfoBytesMax).value();
    if (const std::size_t at = text.find("\"finished\""); at != std::string::npos) {
        text.replace(at, 10, "\"recording\"");
    }
    base::write_file_atomically(info, text).value();
    return trace::TraceFolder::resume(path).value();
}

// Adds calls of all threads in turn, after all others.
class Caller {
  public:
    explicit Caller(trace::TraceFolder& part)
        : writer_(
              trace::SegmentWriter::create(part, part.host_index(), options_after(part)).value()) {}

    void call(int count) {
        for (int i = 0; i < count; ++i) {
            schema::SyscallEvent event{};
            event.header.sequence = ++sequence_;
            event.context_id = 1 + 2 * (static_cast<std::uint32_t>(i) % kThreads);
            event.start_ns = now_ns_ += 100'000;
            event.event_class = static_cast<std::uint8_t>(schema::Class::kFile);
            event.duration_ns = 4'000;
            event.present = schema::SyscallEvent::kHasDuration | schema::SyscallEvent::kHasResult;
            writer_.append(0, schema::Stream::kEvents, schema::build(event, {}).bytes()).value();
        }
        writer_.flush().value();
    }

  private:
    static trace::SegmentWriterOptions options_after(const trace::TraceFolder& part) {
        trace::SegmentWriterOptions options;
        options.first_number = part.list().value().sealed.back() + 1;
        return options;
    }

    trace::SegmentWriter writer_;
    std::uint64_t sequence_ = std::uint64_t{1} << 32;
    std::uint64_t now_ns_ = 100'000'000'000'000;
};

void measure(const std::string& path, const std::string& clock) {
    trace::TraceFolder whole = record_again(path);
    trace::TraceFolder part = record_again(whole.part_path(0));
    Caller caller(part);
    const auto database = measured("open", [&] { return store::Database::open(path, {}); });
    api::TimelineProgress progress;
    const std::atomic<bool> cancelled = false;
    const auto read = [&](const api::TimelineRead* before) {
        return api::read_timeline(*database, {.clock = clock}, before, progress, cancelled);
    };
    api::TimelineRead last = measured("read all", [&] { return read(nullptr); });
    fmt::print("  {} events\n", last.timeline.index.events());
    for (int i = 0; i < kLooks; ++i) {
        caller.call(kAdded);
        measured("look", [&]() -> Result<int> {
            TRY(database->refresh());
            return 0;
        });
        (void)measured("read all", [&] { return read(nullptr); });
        last = measured("read what came since", [&] { return read(&last); });
        fmt::print("  {} events, {}\n",
                   last.timeline.index.events(),
                   last.is_added_to ? "added to" : "read anew");
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 2) {
        fmt::print(stderr, "timeline_growth TRACE [CLOCK]: a copy of a sealed trace\n");
        return 2;
    }
    measure(arguments[1], count > 2 ? arguments[2] : "wall");
    return 0;
}
