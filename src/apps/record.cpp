// dyetrace record: makes a trace of a command, of processes, or of the whole system.

#include <fmt/format.h>

#include <charconv>
#include <ctime>

#include "apps/recording.h"
#include "apps/verbs.h"
#include "base/log.h"
#include "base/text.h"

namespace dyetrace::apps {
namespace {

using base::Error;
using base::ErrorCode;
using base::Result;

constexpr int kExitFailure = 1;

struct RecordArguments {
    std::string output;
    std::vector<std::string> command;
    std::vector<int> processes;
    bool all = false;
    std::string duration;
    std::string ring = "16M";
    bool no_seal = false;
};

// "1500ms", "90s", "5m", "2h"; a number alone is seconds.
Result<std::chrono::nanoseconds> parse_duration(const std::string& text) {
    double number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
    static constexpr std::pair<std::string_view, double> kUnits[] = {
        {"", 1e9}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}};
    for (const auto& [name, ns] : kUnits) {
        if (error == std::errc() && unit == name && number >= 0) {
            return std::chrono::nanoseconds(static_cast<std::int64_t>(number * ns));
        }
    }
    return Error(ErrorCode::kInvalidArgument, fmt::format("'{}' is no duration: write 500ms, 90s, 5m or 2h", text));
}

Result<std::uint64_t> parse_bytes(const std::string& text) {
    std::uint64_t number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
    static constexpr std::pair<std::string_view, int> kUnits[] = {{"", 0}, {"K", 10}, {"M", 20}, {"G", 30}};
    for (const auto& [name, shift] : kUnits) {
        if (error == std::errc() && unit == name && number < (std::uint64_t{1} << 30)) {
            return number << shift;
        }
    }
    return Error(ErrorCode::kInvalidArgument, fmt::format("'{}' is no size: write 512K, 16M or 1G", text));
}

std::string default_trace_name() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    localtime_r(&now, &parts);
    char text[64];
    std::strftime(text, sizeof(text), "dyetrace-%Y-%m-%dT%H-%M-%S", &parts);
    return text;
}

Result<RecordingOptions> make_options(const RecordArguments& arguments) {
    RecordingOptions options;
    options.trace_path = arguments.output.empty() ? default_trace_name() : arguments.output;
    options.command = arguments.command;
    options.processes.assign(arguments.processes.begin(), arguments.processes.end());
    options.whole_system = arguments.all;
    options.seal = !arguments.no_seal;
    const int targets = int{!options.command.empty()} + int{!options.processes.empty()} + int{options.whole_system};
    if (targets == 0) {
        return Error(ErrorCode::kInvalidArgument, "say what to record: a command behind --, processes with -p, or everything with -a");
    }
    if (options.whole_system && !options.processes.empty()) {
        return Error(ErrorCode::kInvalidArgument, "-a records every process; -p names some: take one of them");
    }
    if (!arguments.duration.empty()) {
        TRY(options.duration, parse_duration(arguments.duration));
    }
    TRY(options.ring_bytes, parse_bytes(arguments.ring));
    for (const std::string& word : arguments.command) {
        options.as_given.emplace_back("command", word);
    }
    return options;
}

void print_summary(const base::Log& log, const std::string& path, const Summary& summary) {
    log.say(fmt::format("{}: {} events in {} · {} · {} · recorder used {} CPU, {}", path, base::with_separators(summary.events),
                        base::duration_text(summary.elapsed_ns), base::bytes_text(summary.stored_bytes),
                        summary.lost == 0 ? "nothing lost" : base::with_separators(summary.lost) + " events lost",
                        base::duration_text(summary.own_cpu_ns), base::bytes_text(summary.own_memory_bytes)));
    if (summary.lost > 0) {
        log.warn(fmt::format("{} of {} events were lost because the rings were full; the table `gaps` says when. A larger --ring helps",
                             base::with_separators(summary.lost), base::with_separators(summary.generated)));
    }
    for (const std::string& line : summary.not_seen) {
        log.warn("not seen: " + line);
    }
}

int run_record(const RecordArguments& arguments) {
    const base::Log log = base::Log::to_stderr();
    Result<RecordingOptions> options = make_options(arguments);
    if (!options.ok()) {
        log.fail(options.error());
        return kExitFailure;
    }
    const std::string path = options.value().trace_path;
    Result<Recording> recording = Recording::start(std::move(options).value());
    if (!recording.ok()) {
        log.fail(recording.error());
        return kExitFailure;
    }
    const Result<Summary> summary = recording.value().run(log);
    if (!summary.ok()) {
        log.fail(summary.error());
        return kExitFailure;
    }
    print_summary(log, path, summary.value());
    if (summary.value().command_status) {
        return pass_on(*summary.value().command_status);
    }
    return summary.value().failed ? kExitFailure : 0;
}

}  // namespace

void add_record(CLI::App& app, int& exit_status) {
    auto arguments = std::make_shared<RecordArguments>();
    CLI::App* verb = app.add_subcommand("record", "Record a command, processes or the whole system into a trace");
    verb->add_option("-o,--output", arguments->output, "Folder of the trace (default: dyetrace-<time>)")->type_name("TRACE");
    verb->add_option("-p,--pid", arguments->processes, "Record these processes, all their threads and later children")->delimiter(',')->type_name("PID[,PID]");
    verb->add_flag("-a,--all", arguments->all, "Record every process of the system");
    verb->add_option("--duration", arguments->duration, "Stop after this time: 500ms, 90s, 5m")->type_name("TIME");
    verb->add_option("--ring", arguments->ring, "Memory per CPU for events not yet read: 512K, 16M, 1G")->capture_default_str()->type_name("SIZE");
    verb->add_flag("--no-seal", arguments->no_seal, "Leave the trace in segments; `dyetrace seal` makes Parquet of them later");
    verb->add_option("command", arguments->command, "Command to run and record, behind --")->type_name("CMD");
    verb->footer("Examples:\n"
                 "  dyetrace record -o trace -- git clone https://example.org/x.git\n"
                 "  dyetrace record -p 4711,4712 --duration 30s\n"
                 "  dyetrace record -a --duration 1m");
    verb->callback([arguments, &exit_status] { exit_status = run_record(*arguments); });
}

}  // namespace dyetrace::apps
