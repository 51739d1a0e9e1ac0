// dyetrace top: who does I/O now, a table that is drawn again and again; counted in the kernel.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>

#include "apps/cli/output.h"
#include "apps/cli/target_options.h"
#include "apps/cli/verbs.h"
#include "base/amounts.h"
#include "base/clock.h"
#include "base/log.h"
#include "format/table.h"
#include "format/top_table.h"
#include "recorder/child.h"
#include "recorder/confine_recorder.h"
#include "recorder/listener.h"
#include "recorder/totals_table.h"
#include "schema/record.h"
#include "schema/text.h"

namespace dyetrace::apps {
namespace {

constexpr std::size_t kNamesMax =
    100'000;  // processes whose names are remembered; then the memory is emptied

struct TopArguments {
    TargetOptions targets;
    std::string interval = "1s";
    bool json = false;
};

// Names of processes, from what the kernel announces.
class Names {
  public:
    void add(std::span<const std::byte> records) {
        while (!records.empty()) {
            const schema::RecordBytes record = schema::first_record(records);
            if (record.empty()) {
                return;
            }
            if (const auto* context = schema::as<schema::TaskContext>(record)) {
                if (names_.size() >= kNamesMax) {
                    names_.clear();
                }
                const char* comm = reinterpret_cast<const char*>(context->comm);
                const auto command = schema::attachment(*context, schema::Attachment::kCommand);
                names_[context->pid] = {
                    schema::escaped(std::string_view(comm, strnlen(comm, sizeof(context->comm)))),
                    format::arguments_of(command.value_or(""))};
            }
            records = records.subspan(record.size());
        }
    }

    struct Name {
        std::string comm = "?", arguments = {};
    };

    Name of(std::uint64_t pid) const {
        const auto found = names_.find(pid);
        return found == names_.end() ? Name() : found->second;
    }

  private:
    std::map<std::uint64_t, Name> names_;
};

std::vector<format::TopRow> named(const std::vector<recorder::TotalRow>& totals,
                                  const Names& names) {
    std::vector<format::TopRow> rows;
    rows.reserve(totals.size());
    for (const recorder::TotalRow& total : totals) {
        Names::Name name = names.of(total.pid);
        rows.push_back({.host = "",
                        .pid = total.pid,
                        .comm = std::move(name.comm),
                        .arguments = std::move(name.arguments),
                        .calls = total.total.calls,
                        .errors = total.total.errors,
                        .would_wait = total.total.would_wait,
                        .read_bytes = total.read_bytes,
                        .written_bytes = total.written_bytes,
                        .p99_ns = total.total.percentile_ns(0.99),
                        .max_ns = total.total.duration_max_ns});
    }
    return rows;
}

void print(const std::vector<format::TopRow>& rows, double seconds, bool json, bool clear) {
    constexpr int kUsedRows = 4;
    put(fmt::format("{}{}",
                    clear ? format::kClearScreen : "",
                    json ? format::top_json(rows, seconds)
                         : format::top_text(rows,
                                            seconds,
                                            format::top_rows_max(kUsedRows),
                                            format::terminal_width(STDOUT_FILENO) - 1)));
}

Result<std::optional<int>> watch(const TopArguments& arguments) {
    TRY(recorder::Targets targets, arguments.targets.targets());
    TRY(const std::chrono::nanoseconds interval, base::parse_duration(arguments.interval));
    TRY(recorder::Listener listener, recorder::Listener::start_counting(std::move(targets)));
    recorder::confine_recorder(base::Log::to_stderr(), "", false);
    Names names;
    std::vector<capture::Total> before;
    std::int64_t printed_ns = listener.started_ns();
    const bool clear = !arguments.json && isatty(STDOUT_FILENO) == 1;
    bool last = false;
    while (!last) {
        listener.wait(
            static_cast<int>(std::clamp<std::int64_t>(interval.count() / 1'000'000, 20, 100)));
        listener.capture().drain([&](std::uint32_t,
                                     schema::Stream,
                                     std::span<const std::byte> records) { names.add(records); });
        last = listener.ended();
        const std::int64_t now = base::boot_time_ns();
        if (now - printed_ns < interval.count() && !last) {
            continue;
        }
        TRY(std::vector<capture::Total> totals, listener.capture().totals());
        const std::vector<recorder::TotalRow> rows =
            recorder::group_totals(totals, before, recorder::GroupBy::kProcess);
        const double seconds = static_cast<double>(now - printed_ns) / 1e9;
        print(named(rows, names), seconds, arguments.json, clear);
        last = last || !is_output_written();
        before = std::move(totals);
        printed_ns = now;
    }
    TRY(listener.end());
    return listener.command_status();
}

int run_top(const TopArguments& arguments) {
    const Result<std::optional<int>> status = watch(arguments);
    if (!status.ok()) {
        base::Log::to_stderr().fail(status.error());
        return exit_status_of(status.error());
    }
    return status.value() ? recorder::pass_on(*status.value()) : 0;
}

}  // namespace

void add_top(CLI::App& app, int& exit_status) {
    auto arguments = std::make_shared<TopArguments>();
    arguments->targets.all = false;
    CLI::App* verb = app.add_subcommand("top", "Show who does I/O now, again and again");
    add_target_options(*verb, arguments->targets);
    verb->add_option("-d,--interval", arguments->interval, "Time between two tables")
        ->capture_default_str()
        ->type_name("TIME");
    verb->add_flag("--json", arguments->json, "One JSON object per process and interval");
    verb->footer(
        "Without a target the whole system is watched. Ctrl-C ends.\n"
        "`dyetrace top TRACE` shows all hosts of a trace that is being recorded.\n\n"
        "Examples:\n  dyetrace top\n  dyetrace top -p 4711 -d 5s\n  dyetrace top fleet.trace");
    verb->callback([arguments, &exit_status] {
        TargetOptions& targets = arguments->targets;
        targets.all = targets.all || (targets.command.empty() && targets.processes.empty());
        exit_status = run_top(*arguments);
    });
}

}  // namespace dyetrace::apps
