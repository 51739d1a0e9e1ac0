// dyetrace top TRACE: who does I/O now on the hosts whose trace is being recorded; from its blocks, as they arrive.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "apps/cli/output.h"
#include "apps/cli/verbs.h"
#include "apps/store/confine_reader.h"
#include "base/amounts.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "format/table.h"
#include "format/top_table.h"
#include "query/asked_rows.h"
#include "query/named_sql.h"
#include "query/sql.h"
#include "schema/generated/would_wait.bpf.h"
#include "schema/record.h"
#include "schema/syscalls.h"
#include "schema/text.h"
#include "trace/record_walk.h"
#include "trace/trace_tail.h"

namespace dyetrace::apps {
namespace {

constexpr std::chrono::milliseconds kLook{100};

struct TopTraceArguments {
    std::string trace;
    std::string interval = "1s";
    std::string duration;
    bool json = false;
};

struct Process {
    std::uint64_t pid = 0;
    std::string comm, arguments = {};
};

// What one process did since the last table.
struct Sums {
    format::TopRow row;
    std::vector<std::uint64_t> durations_ns;
};

using HostAndId = std::pair<std::uint64_t, std::uint64_t>;

class Counts {
  public:
    void take(std::uint16_t host, std::span<const std::byte> records) {
        trace::RecordWalk walk(records);
        for (schema::RecordBytes record = walk.next(); !record.empty(); record = walk.next()) {
            if (const auto* event = schema::as<schema::SyscallEvent>(record)) {
                add(host, *event);
            } else if (const auto* part = schema::as<schema::PartEvent>(record)) {
                add(host, *part);
            } else if (const auto* context = schema::as<schema::TaskContext>(record)) {
                const char* comm = reinterpret_cast<const char*>(context->comm);
                const auto command = schema::attachment(*context, schema::Attachment::kCommand);
                processes_[{host, context->context_id}] = {
                    context->pid,
                    schema::escaped(std::string_view(comm, strnlen(comm, sizeof(context->comm)))),
                    format::arguments_of(command.value_or(""))};
            } else if (const auto* gap = schema::as<schema::Gap>(record)) {
                lost_ += gap->lost;
            }
        }
    }

    // Names that were announced before this one began to read.
    Result<void> read_names(store::Database& database) {
        TRY(query::each_row(database, query::filled(query::sql::kTop), [&](query::Row row) {
            processes_.try_emplace(
                {query::number_of(row[0]), query::number_of(row[1])},
                Process{query::number_of(row[2]),
                        std::string(row[3].text),
                        format::arguments_of(schema::unescaped(row[4].text).value_or(""))});
        }));
        for (const auto& [context, sums] : sums_) {
            processes_.try_emplace(context, Process{0, "?"});  // not asked for again
        }
        return {};
    }

    bool has_unknown() const {
        return std::any_of(sums_.begin(), sums_.end(), [&](const auto& entry) {
            return !processes_.contains(entry.first);
        });
    }

    // What was counted since the last time, a row per process, most bytes first.
    std::vector<format::TopRow> take_rows(const trace::TraceTail& tail) {
        std::map<HostAndId, Sums> processes;
        for (auto& [context, sums] : sums_) {
            const auto known = processes_.find(context);
            const Process process = known == processes_.end() ? Process{0, "?"} : known->second;
            join(sums, process, processes[{context.first, process.pid}]);
        }
        sums_.clear();
        std::vector<format::TopRow> rows;
        for (auto& [key, sums] : processes) {
            if (tail.parts().size() > 1) {
                sums.row.host = tail.parts().at(static_cast<std::uint16_t>(key.first)).host;
            }
            sums.row.pid = key.second;
            rows.push_back(finished(std::move(sums)));
        }
        std::stable_sort(
            rows.begin(), rows.end(), [](const format::TopRow& a, const format::TopRow& b) {
                return std::pair(a.read_bytes + a.written_bytes, a.calls) >
                       std::pair(b.read_bytes + b.written_bytes, b.calls);
            });
        return rows;
    }

    std::uint64_t lost() const { return lost_; }

  private:
    void add(std::uint16_t host, const schema::SyscallEvent& event) {
        Sums& sums = sums_[{host, event.context_id}];
        ++sums.row.calls;
        const bool has_result = (event.present & schema::SyscallEvent::kHasResult) != 0;
        if (has_result) {
            sums.row.errors += is_failure(event.result, event.event_class) ? 1 : 0;
            sums.row.would_wait += would_wait(event.result, event.event_class) ? 1 : 0;
        }
        if ((event.present & schema::SyscallEvent::kHasDuration) != 0) {
            sums.durations_ns.push_back(event.duration_ns);
        }
        if ((event.present & schema::SyscallEvent::kHasBytes) != 0) {
            add_bytes(event.abi, event.syscall, event.bytes, sums.row);
        }
    }

    void add(std::uint16_t host, const schema::PartEvent& part) {
        if ((part.present & schema::PartEvent::kHasBytes) != 0) {
            add_bytes(part.abi, part.operation, part.bytes, sums_[{host, part.context_id}].row);
        }
    }

    static void add_bytes(std::uint8_t abi,
                          std::uint16_t number,
                          std::int64_t bytes,
                          format::TopRow& row) {
        const schema::SyscallInfo* const call =
            schema::find_syscall(static_cast<schema::Abi>(abi), number);
        const bool gives = call != nullptr && schema::gives_bytes(*call);
        (gives ? row.written_bytes : row.read_bytes) +=
            static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0));
    }

    // Threads of a process, and what it was called last.
    static void join(Sums& from, const Process& process, Sums& to) {
        to.row.comm = process.comm;
        to.row.arguments = process.arguments;
        to.row.calls += from.row.calls;
        to.row.errors += from.row.errors;
        to.row.would_wait += from.row.would_wait;
        to.row.read_bytes += from.row.read_bytes;
        to.row.written_bytes += from.row.written_bytes;
        to.durations_ns.insert(
            to.durations_ns.end(), from.durations_ns.begin(), from.durations_ns.end());
    }

    static format::TopRow finished(Sums sums) {
        std::vector<std::uint64_t>& durations = sums.durations_ns;
        if (!durations.empty()) {
            const auto p99 =
                durations.begin() + static_cast<std::ptrdiff_t>((durations.size() - 1) * 99 / 100);
            std::nth_element(durations.begin(), p99, durations.end());
            sums.row.p99_ns = *p99;
            sums.row.max_ns = *std::max_element(p99, durations.end());
        }
        return std::move(sums.row);
    }

    std::map<HostAndId, Process> processes_;  // by host and context
    std::map<HostAndId, Sums> sums_;
    std::uint64_t lost_ = 0;
};

// "web1 0.3 s ago · db1 0.2 s ago · 120 events lost"
std::string headline(const trace::TraceTail& tail, std::uint64_t lost) {
    std::string line;
    for (const auto& [index, part] : tail.parts()) {
        const std::int64_t ago_ns =
            std::max<std::int64_t>(base::wall_time_ns() - part.written_ns, 0);
        line += (line.empty() ? "" : " · ") + part.host + " ";
        line += part.written_ns == 0
                    ? "has sent nothing"
                    : fmt::format("{:.1f} s ago", static_cast<double>(ago_ns) / 1e9);
    }
    if (tail.segments_missed() > 0) {
        line += fmt::format(" · {} segments not read to their end", tail.segments_missed());
    }
    if (lost > 0) {
        line += fmt::format(" · {} events lost", base::with_separators(lost));
    }
    return line + "\n";
}

void print(const trace::TraceTail& tail,
           Counts& counts,
           double seconds,
           const TopTraceArguments& arguments) {
    const std::vector<format::TopRow> rows = counts.take_rows(tail);
    if (arguments.json) {
        put(format::top_json(rows, seconds));
    } else {
        constexpr int kUsedRows = 5;
        put(fmt::format("{}{}{}",
                        isatty(STDOUT_FILENO) == 1 ? format::kClearScreen : "",
                        headline(tail, counts.lost()),
                        format::top_text(rows,
                                         seconds,
                                         format::top_rows_max(kUsedRows),
                                         format::terminal_width(STDOUT_FILENO) - 1)));
    }
}

Result<void> watch(const TopTraceArguments& arguments) {
    TRY(const std::chrono::nanoseconds interval, base::parse_duration(arguments.interval));
    std::chrono::nanoseconds duration = std::chrono::nanoseconds::max();
    if (!arguments.duration.empty()) {
        TRY(duration, base::parse_duration(arguments.duration));
    }
    confine_reader(base::Log::to_stderr(), {arguments.trace});
    TRY(trace::TraceTail tail, trace::TraceTail::open(arguments.trace));
    TRY(const trace::TraceState state, tail.state());
    if (state != trace::TraceState::kRecording) {
        return Error(ErrorCode::kUnavailable,
                     fmt::format("'{}' is not being recorded any more; `dyetrace report` says what "
                                 "happened in it",
                                 arguments.trace));
    }
    TRY(const std::unique_ptr<store::Database> database,
        store::Database::open(arguments.trace, {}));
    Counts counts;
    TRY(counts.read_names(*database));
    const std::int64_t begun_ns = base::boot_time_ns();
    std::int64_t printed_ns = begun_ns;
    for (bool last = false; !last;) {
        std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(kLook, interval));
        TRY(const trace::TraceState now_is, tail.state());
        TRY(tail.read([&](std::uint16_t host, std::span<const std::byte> records) {
            counts.take(host, records);
        }));
        const std::int64_t now = base::boot_time_ns();
        last = now_is != trace::TraceState::kRecording || now - begun_ns >= duration.count();
        if (now - printed_ns < interval.count() && !last) {
            continue;
        }
        if (counts.has_unknown()) {
            TRY(database->refresh());
            TRY(counts.read_names(*database));
        }
        print(tail, counts, static_cast<double>(now - printed_ns) / 1e9, arguments);
        last = last || !is_output_written();
        printed_ns = now;
    }
    return {};
}

}  // namespace

void add_top_of_trace(CLI::App& app, int& exit_status) {
    auto arguments = std::make_shared<TopTraceArguments>();
    CLI::App* verb = app.add_subcommand("top", "Show who does I/O now, again and again");
    verb->add_option("TRACE", arguments->trace, "A trace that is being recorded")->required();
    verb->add_option("-d,--interval", arguments->interval, "Time between two tables")
        ->capture_default_str()
        ->type_name("TIME");
    verb->add_option("--duration", arguments->duration, "Stop after this time: 500ms, 90s, 5m")
        ->type_name("TIME");
    verb->add_flag("--json", arguments->json, "One JSON object per process and interval");
    verb->footer("Examples:\n  dyetrace top fleet.trace");
    verb->callback([arguments, &exit_status] {
        const Result<void> done = watch(*arguments);
        if (!done.ok()) {
            base::Log::to_stderr().fail(done.error());
            exit_status = exit_status_of(done.error());
        }
    });
}

}  // namespace dyetrace::apps
