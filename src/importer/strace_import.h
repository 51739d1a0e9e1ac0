// Logs of strace as a trace of one host: one log of many tasks (-f), or one for each (-ff), merged by their times.
//
//   StraceImport strace(trace, problems, options);
//   TRY(strace.read(std::move(inputs)));
//   TRY(strace.finish());
//
// What stands for what: docs/importing.md. O(log files) for each line. Memory: what is under way, open files, objects.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "base/result.h"
#include "importer/imported_trace.h"
#include "importer/log_options.h"
#include "importer/problems.h"
#include "importer/strace_calls.h"
#include "importer/strace_clock.h"
#include "importer/strace_files.h"
#include "importer/strace_line.h"
#include "importer/strace_tasks.h"
#include "importer/text_input.h"

namespace dyetrace::importer {

class StraceImport {
  public:
    StraceImport(ImportedTrace& trace, Problems& problems, const LogOptions& options)
        : trace_(&trace), problems_(&problems), options_(&options) {}

    Result<void> read(std::vector<TextInput> inputs);
    // kCorrupt if the logs had no call.
    Result<void> finish();

  private:
    // A line, with its text in its own keeping.
    struct Kept {
        std::string text;
        StraceLine line;
        std::uint64_t number = 0;
        std::uint64_t time_ns = 0;  // since 1970
    };
    struct Log {
        TextInput input;
        StraceClock clock;
        std::uint32_t task = 1;  // of lines that name none
        std::unique_ptr<Kept> next = nullptr;
        std::unique_ptr<Kept> after_next = nullptr;  // read ahead: how long a call took at most
    };
    // A whole call of one of several logs: calls of others may end before it does.
    struct Ending {
        std::uint64_t end_ns;
        std::uint64_t number;  // as they came
        std::uint32_t task;
        std::string text;
        std::optional<std::uint64_t> duration_ns;
        std::string_view file;
        std::uint64_t line;
        bool operator>(const Ending& other) const {
            return end_ns != other.end_ns ? end_ns > other.end_ns : number > other.number;
        }
    };

    Result<void> read_ahead(Log& log);
    Result<std::unique_ptr<Kept>> read_line(Log& log);
    Result<Log*> earliest();
    Result<void> begin_trace(const Kept& first);
    void take(Log& log, const Kept& kept);
    void take_call(Log& log, const Kept& kept, LogThread& thread, std::uint64_t time_ns);
    void take_end(const Kept& kept, LogThread& thread, std::uint64_t time_ns, const Place& place);
    void take_signal(const Kept& kept,
                     LogThread& thread,
                     std::uint64_t time_ns,
                     const Place& place);
    void take_exit(const Kept& kept, LogThread& thread, std::uint64_t time_ns, const Place& place);
    void take_replacement(const Kept& kept, LogThread& thread, const Place& place);
    void leave_calls();  // those that the log leaves under way
    void end_until(std::uint64_t time_ns);
    void end_thread(LogThread& thread, std::uint64_t time_ns, std::int32_t exit_code);
    void say_coverage() const;
    std::uint64_t host_ns(std::uint64_t time_ns) const;

    ImportedTrace* trace_;
    Problems* problems_;
    const LogOptions* options_;
    HostWriter* writer_ = nullptr;
    std::vector<Log> logs_ = {};
    std::unique_ptr<LogTasks> tasks_;
    std::unique_ptr<LogObjects> objects_;
    std::unique_ptr<StraceCalls> calls_;
    std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings_;
    std::uint64_t endings_seen_ = 0;
    std::int64_t offset_ns_ = 0;  // times of the trace, plus this, are wall clock
    bool has_durations_ = false, has_decorations_ = false, has_times_ = false;
    std::uint64_t calls_taken_ = 0;
};

}  // namespace dyetrace::importer
