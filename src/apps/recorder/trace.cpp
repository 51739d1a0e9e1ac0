// dyetrace trace: system calls as they happen, as strace shows them, without stopping anybody.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/help_formatter.h"
#include "apps/cli/output.h"
#include "apps/cli/verbs.h"
#include "apps/recorder/losses.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "base/version.h"
#include "filter/short_forms.h"
#include "format/colour.h"
#include "recorder/confine_recorder.h"
#include "recorder/listener.h"
#include "strace/json_event.h"
#include "strace/trace_options.h"
#include "strace/trace_output.h"
#include "strace/trace_sink.h"
#include "trace/trace_folder.h"

namespace dyetrace::apps {
namespace {

constexpr int kWordsMax = CLI::detail::expected_max_vector_size;
constexpr int kLineWaitMs = 20;  // a line is seen at most this late
constexpr int kLineWaitIdleMs = 100;

std::int64_t wall_offset_ns() {
    timespec wall{}, boot{};
    clock_gettime(CLOCK_REALTIME, &wall);
    clock_gettime(CLOCK_BOOTTIME, &boot);
    return (wall.tv_sec - boot.tv_sec) * 1'000'000'000 + (wall.tv_nsec - boot.tv_nsec);
}

std::int64_t zone_offset_seconds() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    localtime_r(&now, &parts);
    return parts.tm_gmtoff;
}

// Its inode; 0 if /proc is not there.
std::uint32_t own_pid_namespace() {
    struct stat status {};
    return stat("/proc/self/ns/pid", &status) == 0 ? static_cast<std::uint32_t>(status.st_ino) : 0;
}

std::string host_name() {
    char name[256] = {};
    return gethostname(name, sizeof(name) - 1) == 0 ? name : "";
}

recorder::Targets targets_of(const strace::TraceOptions& options) {
    recorder::Targets targets;
    targets.command = options.command;
    targets.and_children = options.follow;
    targets.processes.assign(options.processes.begin(), options.processes.end());
    return targets;
}

strace::EventPrinter printer_of(const strace::TraceOptions& options,
                                const format::CallDetails& details,
                                const strace::TraceSink& sink,
                                const schema::Dictionary& dictionary) {
    if (options.form == strace::TraceForm::kJson) {
        return strace::json_printer({host_name(), wall_offset_ns()}, dictionary);
    }
    format::LineStyle style = options.style;
    style.colour = format::wants_colour(options.colour, sink.fd());
    style.details = &details;
    style.pid = options.follow && !options.separately;
    style.pid_bare = !options.output.empty();
    style.pids.namespace_ = own_pid_namespace();
    style.wall_offset_ns = wall_offset_ns();
    style.zone_offset_seconds = zone_offset_seconds();
    return strace::line_printer(style, dictionary);
}

void say_notes(const strace::TraceOptions& options, const base::Log& log) {
    for (const std::string& note : options.notes) {
        log.warn(note);
    }
    const std::size_t wanted = options.style.limits.text_max;
    if (wanted >= capture::kPreviewBytesMax) {
        log.warn(fmt::format("-s {}: of each buffer at most {} bytes are seen",
                             base::with_separators(wanted),
                             base::with_separators(capture::kPreviewBytesMax - 1)));
    }
}

// Who waits for the end of a pipe that the command closed does not wait for us, who hold it too.
void let_go_of(int descriptor) {
    const base::Fd nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
    if (nothing.get() >= 0) {
        dup2(nothing.get(), descriptor);
    }
}

void let_go_of_the_commands_own(const strace::TraceOptions& options,
                                const strace::TraceSink& sink) {
    if (options.command.empty()) {
        return;
    }
    let_go_of(STDIN_FILENO);
    if (sink.fd() != STDOUT_FILENO) {
        let_go_of(STDOUT_FILENO);
    }
}

Result<std::optional<int>> trace(const strace::TraceOptions& options, const base::Log& log) {
    TRY(trace::TraceFolder::expect_outside(options.output));
    // the command's own output stays what it was
    TRY(strace::TraceSink sink,
        strace::TraceSink::open(
            {options.output, options.append, options.separately},
            options.form == strace::TraceForm::kJson ? STDOUT_FILENO : STDERR_FILENO));
    capture::CaptureOptions listen;
    listen.follow_children = options.follow;
    if (options.form == strace::TraceForm::kLines ||
        options.form == strace::TraceForm::kLinesAndSummary) {
        const bool dumps = !options.dump_reads.empty() || !options.dump_writes.empty();
        listen.preview_bytes =
            dumps ? capture::kPreviewBytesMax
                  : static_cast<std::uint32_t>(std::clamp<std::size_t>(
                        options.style.limits.text_max + 1, 1, capture::kPreviewBytesMax));
    }
    listen.number_threads = options.style.pids.names || options.style.pids.translation;
    TRY(recorder::Listener listener, recorder::Listener::start(targets_of(options), listen));
    std::signal(SIGPIPE, SIG_IGN);  // after the command got its own
    schema::Dictionary dictionary;
    const strace::OptionDetails details(options);
    strace::TraceOutput output(
        options,
        dictionary,
        printer_of(options, details, sink, dictionary),
        [&](std::uint32_t tid, std::string_view text) { sink.write(tid, text); });
    const auto drain = [&] {
        const auto began_ns = static_cast<std::uint64_t>(base::boot_time_ns());
        const std::uint64_t bytes = listener.capture().drain(
            [&](std::uint32_t cpu, schema::Stream stream, std::span<const std::byte> records) {
                output.take(cpu, stream, records);
            });
        output.flush(began_ns);
        return bytes;
    };
    TRY(listener.attach());
    output.take(0, schema::Stream::kFacts, listener.capture().thread_numbers());
    TRY(listener.release());
    let_go_of_the_commands_own(options, sink);
    recorder::confine_recorder(
        log, options.separately ? base::parent_folder(options.output) : "", false);
    int wait_ms = kLineWaitMs;
    while (!listener.ended() && !sink.failed()) {
        listener.wait(wait_ms);
        wait_ms = drain() > 0 ? kLineWaitMs : std::min(wait_ms * 2, kLineWaitIdleMs);
    }
    TRY(listener.end());
    drain();
    output.flush(strace::TraceOutput::kLast);
    if (options.form == strace::TraceForm::kSummary ||
        options.form == strace::TraceForm::kLinesAndSummary) {
        sink.write(0, output.summary());
    }
    warn_of_losses(log, listener.capture().accounting());
    const std::optional<int> status = listener.command_status();
    if (sink.error() && status.value_or(0) == 0) {
        return *sink.error();
    }
    if (sink.error()) {
        log.fail(*sink.error());
    }
    return status;
}

CLI::callback_t take_nothing() {
    return [](const CLI::results_t&) { return true; };
}

// Only --help uses this: the arguments are parsed by parse_trace_options.
void describe(CLI::App& verb, const strace::TraceOption& option) {
    std::string names = option.letter == 0 ? "" : fmt::format("-{}", option.letter);
    if (!option.name.empty()) {
        names += fmt::format("{}--{}", names.empty() ? "" : ",", option.name);
    }
    const std::string help(option.help);
    if (option.value.empty() || option.value.front() == '[') {
        verb.add_flag(names, help);
    } else {
        verb.add_option(names, take_nothing(), help)->type_name(std::string(option.value));
    }
}

// A path as it was typed may be an argument of a call; events name files by their absolute paths.
void resolve_paths(std::vector<std::string>& paths) {
    std::vector<std::string> resolved;
    for (const std::string& path : paths) {
        resolved.push_back(path);
        for (std::string& meaning : filter::path_meanings(path)) {
            resolved.push_back(std::move(meaning));
        }
    }
    paths = std::move(resolved);
}

std::string help_text() {
    CLI::App app;
    speak_plainly(app);
    add_trace(app);
    return app.get_subcommand("trace")->help("dyetrace");
}

}  // namespace

int run_trace(const std::vector<std::string>& words) {
    const base::Log log = base::Log::to_stderr();
    Result<strace::TraceOptions> parsed = strace::parse_trace_options(words);
    if (!parsed.ok()) {
        log.fail(parsed.error());
        return kExitUsage;
    }
    strace::TraceOptions options = std::move(parsed).value();
    if (options.help) {
        put(help_text());
        return finish_output(0);
    }
    if (options.version) {
        put(fmt::format("dyetrace {}\n", base::kVersion));
        return finish_output(0);
    }
    say_notes(options, log);
    resolve_paths(options.paths);
    const Result<std::optional<int>> status = trace(options, log);
    if (!status.ok()) {
        log.fail(status.error());
        return status.error().code() == ErrorCode::kInvalidArgument
                   ? kExitUsage
                   : recorder::status_of_failed_start(options.command);
    }
    return status.value() ? recorder::pass_on(*status.value()) : 0;
}

void add_trace(CLI::App& app) {
    CLI::App* verb =
        app.add_subcommand("trace", "Show system calls as they happen, as strace does");
    for (const strace::TraceOption& option : strace::trace_options()) {
        if (option.name == "help" || option.name == "version" || option.help.empty()) {
            continue;  // every verb has these; the others are refused
        }
        describe(*verb, option);
    }
    verb->add_option("command", take_nothing(), "Command to run and watch")
        ->type_name("CMD")
        ->expected(1, kWordsMax);
    verb->footer(
        "Nobody is stopped, so nothing can be changed: -E, -u and -e inject are refused.\n"
        "Signals that a program ignores (--- lines) never reach it, and are not shown.\n"
        "A call is shown when it ends, in one line; one that never did is unfinished.\n"
        "\n"
        "Examples:\n"
        "  dyetrace trace -e file -- ls\n"
        "  dyetrace trace -f -yy -T -e '!futex,poll' -p 4711\n"
        "  dyetrace trace -Z -e %network -- curl https://example.org");
}

}  // namespace dyetrace::apps
