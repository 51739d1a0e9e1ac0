// dyetrace stat: totals of a command, of processes or of the whole system, counted in the kernel.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "apps/cli/output.h"
#include "apps/cli/target_options.h"
#include "apps/cli/verbs.h"
#include "apps/recorder/losses.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "recorder/child.h"
#include "recorder/confine_recorder.h"
#include "recorder/listener.h"
#include "recorder/totals_table.h"

namespace dyetrace::apps {
namespace {

constexpr int kWaitMs = 100;

struct StatArguments {
    TargetOptions targets;
    bool json = false;
};

struct Counts {
    std::vector<capture::Total> totals;
    capture::Accounting accounting = {};
    std::uint64_t elapsed_ns = 0;
    std::optional<int> command_status;
};

Result<Counts> count(const StatArguments& arguments) {
    TRY(recorder::Targets targets, arguments.targets.targets());
    TRY(recorder::Listener listener, recorder::Listener::start_counting(std::move(targets)));
    recorder::confine_recorder(base::Log::to_stderr(), "", false);
    while (!listener.ended()) {
        listener.wait(kWaitMs);
        listener.capture().drain([](auto, auto, auto) {});
    }
    Counts counts;
    counts.elapsed_ns = static_cast<std::uint64_t>(base::boot_time_ns() - listener.started_ns());
    TRY(listener.end());
    TRY(counts.totals, listener.capture().totals());
    counts.accounting = listener.capture().accounting();
    counts.command_status = listener.command_status();
    return counts;
}

std::string row_text(std::string_view name, const capture::Total& total) {
    return fmt::format(" {} {:>11} {:>8} {:>8} {:>8} {:>7} {:>7} {:>7}\n",
                       base::left_aligned(name, 16),
                       base::with_separators(total.calls),
                       total.errors == 0 ? "" : base::with_separators(total.errors),
                       total.bytes == 0 ? "–" : base::bytes_text(total.bytes),
                       base::duration_text(total.duration_ns),
                       base::duration_text(total.percentile_ns(0.5)),
                       base::duration_text(total.percentile_ns(0.99)),
                       base::duration_text(total.duration_max_ns));
}

std::string table_text(const std::vector<recorder::TotalRow>& rows, const Counts& counts) {
    std::uint64_t calls = 0, errors = 0, would_wait = 0;
    for (const recorder::TotalRow& row : rows) {
        calls += row.total.calls;
        errors += row.total.errors;
        would_wait += row.total.would_wait;
    }
    std::string text = fmt::format(
        "\n {} system calls in {}, {} failed{}{}\n\n",
        base::with_separators(calls),
        base::duration_text(counts.elapsed_ns),
        base::with_separators(errors),
        would_wait == 0 ? "" : ", " + base::with_separators(would_wait) + " would have had to wait",
        not_counted_text(counts.accounting));
    text += fmt::format(" {:<16} {:>11} {:>8} {:>8} {:>8} {:>7} {:>7} {:>7}\n",
                        "call",
                        "calls",
                        "errors",
                        "bytes",
                        "time",
                        "p50",
                        "p99",
                        "max");
    for (const recorder::TotalRow& row : rows) {
        text += row_text(row.name, row.total);
    }
    return text;
}

void print_json(const std::vector<recorder::TotalRow>& rows) {
    for (const recorder::TotalRow& row : rows) {
        base::Json line = base::Json::object();
        line.set("name", row.name);
        line.set("calls", row.total.calls);
        line.set("errors", row.total.errors);
        line.set("would_wait", row.total.would_wait);
        line.set("bytes", row.total.bytes);
        line.set("duration_ns", row.total.duration_ns);
        line.set("off_cpu_ns", row.total.off_cpu_ns);
        line.set("p50_ns", row.total.percentile_ns(0.5));
        line.set("p99_ns", row.total.percentile_ns(0.99));
        line.set("max_ns", row.total.duration_max_ns);
        put(fmt::format("{}\n", line.text()));
    }
}

// The table goes to stderr, as the command's own output has stdout; JSON is data and goes to stdout.
int run_stat(const StatArguments& arguments) {
    const Result<Counts> counts = count(arguments);
    if (!counts.ok()) {
        base::Log::to_stderr().fail(counts.error());
        return counts.error().code() == ErrorCode::kInvalidArgument
                   ? kExitUsage
                   : recorder::status_of_failed_start(arguments.targets.command);
    }
    const std::vector<recorder::TotalRow> rows =
        recorder::group_totals(counts.value().totals, {}, recorder::GroupBy::kCall);
    if (arguments.json) {
        print_json(rows);
    }
    const bool is_told =
        arguments.json || std::fputs(table_text(rows, counts.value()).c_str(), stderr) >= 0;
    const int told = finish_output(is_told ? 0 : kExitFailure);  // the command's end may be ours
    return counts.value().command_status
               ? std::max(told, recorder::pass_on(*counts.value().command_status))
               : told;
}

}  // namespace

void add_stat(CLI::App& app, int& exit_status) {
    auto arguments = std::make_shared<StatArguments>();
    CLI::App* verb =
        app.add_subcommand("stat", "Count calls, errors, bytes and times, without a trace");
    add_target_options(*verb, arguments->targets);
    verb->add_flag("--json", arguments->json, "One JSON object per line, on stdout");
    verb->footer(
        "The kernel counts; nothing is written. Percentiles come from a histogram with\n"
        "four buckets per octave: at most a quarter too high.\n\n"
        "Examples:\n  dyetrace stat -- git status\n  dyetrace stat -a --duration 10s");
    verb->callback([arguments, &exit_status] { exit_status = run_stat(*arguments); });
}

}  // namespace dyetrace::apps
