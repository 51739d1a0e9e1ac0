// dyetrace record: makes a trace of a command, of processes, or of the whole system.

#include <fmt/format.h>
#include <grp.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/selection_options.h"
#include "apps/cli/target_options.h"
#include "apps/cli/verbs.h"
#include "apps/recorder/losses.h"
#include "base/amounts.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "content/anchors.h"
#include "content/content_key.h"
#include "recorder/child.h"
#include "recorder/command_redactor.h"
#include "recorder/companions.h"
#include "recorder/control.h"
#include "recorder/recording.h"

namespace dyetrace::apps {
namespace {

constexpr std::size_t kDyeFileBytesMax =
    DYE_PATTERNS_MAX *
    (capture::kDyeNameBytesMax + DYE_BYTES_MAX + 2);  // as many as can be looked for
constexpr int kNamesPerSecondMax = 1000;  // then the last one is refused, because it is there

struct OnArguments {
    std::string hosts;
    std::string collector;
    std::string certificates;
    bool insecure = false;
};

struct RecordArguments {
    OnArguments on;
    TargetOptions targets;
    SelectionOptions selection;
    std::string output;
    std::string group;
    std::string ring = "16M";
    std::string node_by = "host";
    std::string content = "none";
    std::string content_key;
    std::uint32_t anchor_distance = ANCHOR_DISTANCE_DEFAULT;
    std::vector<std::string> dyes;
    std::string dye_file;
    std::string dye_forms = "plain";
    bool later_dyes = false;
    bool only_dyed = false;
    std::vector<std::string> redact;
    bool no_arguments = false;
    std::vector<std::string> probes;
    std::string stacks = "none";
    std::string test_clock;  // in builds for tests
    bool no_seal = false;
    bool show_page = false;
    int control_fd = -1;
    std::uint16_t host_index = 0;
    std::string host_name;
    std::uint64_t segment_records = trace::SegmentLimits().records_max;
};

std::string default_trace_name() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    localtime_r(&now, &parts);
    char text[64];
    std::strftime(text, sizeof(text), "dyetrace-%Y-%m-%dT%H-%M-%S", &parts);
    std::string name = text;
    for (int number = 2; std::filesystem::exists(name) && number < kNamesPerSecondMax; ++number) {
        name = fmt::format("{}-{}", text, number);
    }
    return name;
}

// Empty lines are left out.
void append_lines(std::string_view text, std::vector<std::string>& lines) {
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        if (!line.empty()) {
            lines.emplace_back(line);
        }
        text.remove_prefix(std::min(text.size(), line.size() + 1));
    }
}

// An empty text if it is a ring's size, else why not.
std::string refuse_ring(const std::string& text) {
    const Result<std::uint64_t> bytes = base::parse_bytes(text);
    if (!bytes.ok()) {
        return bytes.error().text();
    }
    const bool fits = bytes.value() >= capture::kEventRingBytesMin &&
                      bytes.value() <= capture::kEventRingBytesMax;
    return fits ? "" : fmt::format("{} is no size of a ring: it is from 64K to 512M", text);
}
static_assert(capture::kEventRingBytesMin == 64u << 10 && capture::kEventRingBytesMax == 512u
                                                                                             << 20);

// A level's word; of bytes:SIZE what is before the colon.
Result<schema::ContentLevel> content_level(const std::string& text) {
    static const std::map<std::string, schema::ContentLevel, std::less<>> kLevels = {
        {"none", schema::ContentLevel::kNone},
        {"hash", schema::ContentLevel::kHash},
        {"anchors", schema::ContentLevel::kAnchors},
        {"bytes", schema::ContentLevel::kBytes}};
    const auto found = kLevels.find(text.starts_with("bytes:") ? "bytes" : text);
    if (found == kLevels.end()) {
        return Error(
            ErrorCode::kInvalidArgument,
            fmt::format("'{}' is no level: none, hash, anchors, bytes or bytes:SIZE", text));
    }
    return found->second;
}

Result<std::uint64_t> payload_bytes_max(const std::string& text) {
    const std::size_t colon = text.find(':');
    return colon == std::string::npos ? Result<std::uint64_t>(UINT64_MAX)
                                      : base::parse_bytes(text.substr(colon + 1));
}

std::string refuse_content(const std::string& text) {
    const auto level = content_level(text);
    const auto bytes_max = payload_bytes_max(text);
    return !level.ok() ? level.error().text() : bytes_max.ok() ? "" : bytes_max.error().text();
}

std::string refuse_secret(const std::string& text) {
    const auto secrets = capture::Secrets::parse({text});
    return secrets.ok() ? "" : secrets.error().text();
}

// A name, or a number.
Result<gid_t> group_of(const std::string& text) {
    gid_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) {
        return number;
    }
    const struct group* const found = ::getgrnam(text.c_str());
    if (found == nullptr) {
        return Error(ErrorCode::kInvalidArgument, fmt::format("there is no group '{}'", text));
    }
    return found->gr_gid;
}

Result<recorder::RecordingOptions> make_options(const RecordArguments& arguments) {
    recorder::RecordingOptions options;
    options.trace_path = arguments.output.empty() ? default_trace_name() : arguments.output;
    if (!arguments.group.empty()) {
        TRY(options.group, group_of(arguments.group));
    }
    TRY(options.targets, arguments.targets.targets());
    TRY(options.control, recorder::Control::take(arguments.control_fd));
    if (options.control.held() && !options.targets.command.empty()) {
        return Error(ErrorCode::kInvalidArgument, "a recording for an agent runs no command");
    }
    options.host_index = arguments.host_index;
    options.host_name = arguments.host_name;
    options.segment_records = arguments.segment_records;
    TRY(options.capture.predicate, arguments.selection.predicate());
    TRY(options.capture.event_ring_bytes, base::parse_bytes(arguments.ring));
    options.seal = !arguments.no_seal;
    options.show_page = arguments.show_page;
    options.capture.anchor_distance = arguments.anchor_distance;
    TRY(options.capture.content, content_level(arguments.content));
    TRY(options.capture.payload_bytes_max, payload_bytes_max(arguments.content));
    TRY(options.secrets, capture::Secrets::parse(arguments.redact));
    if (!arguments.content_key.empty()) {
        TRY(options.capture.content_key, content::content_key(arguments.content_key));
    } else if (!options.secrets.empty()) {
        TRY(options.capture.content_key, content::random_content_key());
    }
    TRY(const capture::DyeForms forms, capture::parse_dye_forms(arguments.dye_forms));
    std::vector<std::string> dyes = arguments.dyes;
    if (!arguments.dye_file.empty()) {
        TRY(const std::string lines, base::read_file(arguments.dye_file, kDyeFileBytesMax));
        append_lines(lines, dyes);
    }
    for (const std::string& spec : dyes) {
        TRY(capture::Dye dye, capture::parse_dye(spec, forms));
        options.dyes.push_back(std::move(dye));
    }
    options.capture.look_for_dyes = arguments.later_dyes || !options.dyes.empty();
    options.capture.only_dyed = arguments.only_dyed;
    options.capture.keep_arguments = !arguments.no_arguments;
    if (options.capture.only_dyed && !options.capture.look_for_dyes) {
        return Error(ErrorCode::kInvalidArgument,
                     "--only-dyed keeps nothing without a --dye, or --later-dyes");
    }
    TRY(capture::check_recorded_probes(arguments.probes));
    options.probes.probes = arguments.probes;
    options.probes.stacks.of_kernel = arguments.stacks == "kernel" || arguments.stacks == "both";
    options.probes.stacks.of_user = arguments.stacks == "user" || arguments.stacks == "both";
    if (!arguments.test_clock.empty()) {
        TRY(options.test_clock, recorder::TestClock::parse(arguments.test_clock));
        if (options.test_clock->at(static_cast<std::uint64_t>(base::boot_time_ns())) <= 1) {
            return Error(ErrorCode::kInvalidArgument,
                         "--test-clock would show times before this machine was started");
        }
    }
    options.node_by = arguments.node_by;
    TargetOptions targets = arguments.targets;
    if (arguments.no_arguments && !targets.command.empty()) {
        targets.command.resize(1);
    }
    const recorder::CommandRedactor redactor(options.secrets);
    targets.command = redactor.hidden(targets.command);
    options.as_given = targets.as_given();
    for (const std::string& probe : arguments.probes) {
        options.as_given.emplace_back("probe", probe);
    }
    if (!options.capture.predicate.selects_all()) {
        options.as_given.emplace_back("where",
                                      redactor.hidden({options.capture.predicate.to_sql()})[0]);
    }
    return options;
}

void say_payload(const base::Log& log, const trace::PayloadTotals& totals) {
    log.say(fmt::format(
        "payload: {} kept{}",
        base::bytes_text(totals.kept),
        totals.redacted == 0
            ? ""
            : fmt::format(", {} bytes of them redacted", base::with_separators(totals.redacted))));
    if (totals.lost > 0) {
        log.warn(fmt::format(
            "{} of payload were lost because there was no room for them. A larger --ring "
            "helps: payload has rings four times as large",
            base::bytes_text(totals.lost)));
    }
}

void print_summary(const base::Log& log,
                   const std::string& path,
                   const recorder::Summary& summary) {
    log.say(fmt::format("{}: {} events in {} · {} · {}",
                        path,
                        base::with_separators(summary.events),
                        base::duration_text(summary.elapsed_ns),
                        base::bytes_text(summary.stored_bytes),
                        losses_text(summary)));
    log.say(fmt::format("recorder used {} CPU, {}",
                        base::duration_text(summary.own_cpu_ns),
                        base::bytes_text(summary.own_memory_bytes)));
    if (!summary.dye_hits.empty()) {
        log.say("dye hits: " + summary.dye_hits);
    }
    if (summary.probed > 0) {
        log.say(fmt::format("probes: {} of the events", base::with_separators(summary.probed)));
    }
    warn_of_losses(log, summary);
    if (summary.payload) {
        say_payload(log, *summary.payload);
    }
    for (const std::string& line : summary.not_seen) {
        log.say(line);
    }
}

void say_sealing(const base::Log& log, const std::string& path, const recorder::Sealing& sealing) {
    switch (sealing.end) {
        case recorder::Sealing::End::kDone:
            return log.say(fmt::format("sealed in {}, with {} CPU: {}",
                                       base::duration_text(sealing.waited_ns),
                                       base::duration_text(sealing.cpu_ns),
                                       base::bytes_text(base::bytes_in_folder(path))));
        case recorder::Sealing::End::kFailed:
            return;
        case recorder::Sealing::End::kLeft:
            return log.say("sealing goes on alone; the trace can be read meanwhile");
        case recorder::Sealing::End::kStopped:
            return log.say(
                fmt::format("sealing was stopped after {} CPU; the trace can be read as it is, and "
                            "`dyetrace seal "
                            "{}` goes on",
                            base::duration_text(sealing.cpu_ns),
                            path));
    }
}

void warn_of_payload(const base::Log& log, const recorder::RecordingOptions& options) {
    if (options.capture.content == schema::ContentLevel::kBytes) {
        log.warn(
            fmt::format("--content=bytes keeps what these programs read and write, passwords "
                        "and keys too, in {}/payload{}",
                        options.trace_path,
                        options.secrets.empty() ? "; --redact hides what you name" : ""));
    }
}

int run_record(const RecordArguments& arguments) {
    const base::Log log = base::Log::to_stderr();
    Result<recorder::RecordingOptions> options = make_options(arguments);
    if (!options.ok()) {
        log.fail(options.error());
        return exit_status_of(options.error());
    }
    warn_of_payload(log, options.value());
    if (options.value().capture.content != schema::ContentLevel::kNone &&
        !options.value().secrets.empty() && arguments.content_key.empty()) {
        log.say(
            "fingerprints are made with a random key, so that nobody finds by trying what is "
            "redacted; --content-key takes one of yours");
    }
    const std::string path = options.value().trace_path;
    const std::vector<std::string> command = options.value().targets.command;
    Result<recorder::Recording> recording = recorder::Recording::start(std::move(options).value());
    if (!recording.ok()) {
        log.fail(recording.error());
        return recorder::status_of_failed_start(command);
    }
    recorder::Companions companions(path, log);
    const Result<recorder::Summary> summary = recording.value().run(log, companions);
    if (!summary.ok()) {
        log.fail(summary.error());
        return kExitFailure;
    }
    print_summary(log, path, summary.value());
    const int status = recording.value().await_command().value_or(0);
    if (const std::optional<recorder::Sealing> sealing = companions.await_sealer()) {
        say_sealing(log, path, *sealing);
    }
    companions.await_page_reader();
    if (status != 0) {
        return recorder::pass_on(status);
    }
    return summary.value().failed ? kExitFailure : 0;
}

// What is looked at in the bytes that calls move.
void add_content_options(CLI::App& verb, RecordArguments& arguments) {
    verb.add_option("--content",
                    arguments.content,
                    "What is kept of the bytes that calls move: none, hash (a fingerprint of "
                    "all), anchors (also of places in them), bytes (and themselves), bytes:SIZE "
                    "(so many of each call)")
        ->check(&refuse_content)
        ->capture_default_str()
        ->type_name("LEVEL");
    verb.add_option("--content-key",
                    arguments.content_key,
                    "Key of the fingerprints, so that who has the trace cannot try guesses: "
                    "hex:DIGITS (32) or @FILE")
        ->type_name("KEY");
    verb.add_option("--anchor-distance",
                    arguments.anchor_distance,
                    "Bytes from one anchor to the next, on average")
        ->check(CLI::Range(content::AnchorRule::kDistanceMin, content::AnchorRule::kDistanceMax))
        ->capture_default_str()
        ->type_name("BYTES");
    verb.add_option("--dye",
                    arguments.dyes,
                    "Look for this text in all bytes that calls move, and list where it is found: "
                    "NAME=TEXT, NAME=hex:DIGITS, NAME=@FILE")
        ->type_name("DYE")
        ->allow_extra_args(false);
    verb.add_option("--dyes", arguments.dye_file, "The same, a dye per line of this file")
        ->type_name("FILE");
    verb.add_option("--dye-forms",
                    arguments.dye_forms,
                    "How else dyes may be written: nocase, base64, hex, utf16, url, json, all")
        ->capture_default_str()
        ->type_name("FORMS");
    verb.add_flag("--later-dyes",
                  arguments.later_dyes,
                  "Be ready for what `dyetrace dye add` names while the recording runs");
    verb.add_flag("--only-dyed",
                  arguments.only_dyed,
                  "Keep only events that carry a dye, and the names of what they act on");
    verb.add_option("--redact",
                    arguments.redact,
                    "Hide this in command lines and bytes before they reach the disk: text, "
                    "hex:DIGITS, re:REGEX, @FILE; may be repeated")
        ->check(&refuse_secret)
        ->allow_extra_args(false)
        ->type_name("PATTERN");
    verb.add_flag("--no-arguments",
                  arguments.no_arguments,
                  "Keep no command lines of programs: they may have secrets in them");
}

// What is watched besides system calls.
void add_probe_options(CLI::App& verb, RecordArguments& arguments) {
    auto* const probe =
        verb.add_option("--probe",
                        arguments.probes,
                        "Keep each firing of this probe, too: \"kernel_function('vfs_read')\", "
                        "tracepoint, user_function, usdt, timer, sample; may be repeated");
    probe->allow_extra_args(false)->type_name("PROBE");
    verb.add_option("--stacks", arguments.stacks, "With --probe: keep how control came there")
        ->check(CLI::IsMember({"none", "kernel", "user", "both"}))
        ->needs(probe)
        ->type_name("WHOSE");
}

// Only --help uses this: with --on, `dyetrace` is another program (main.cpp, record_on.cpp) before this is parsed.
void add_on(CLI::App& verb, OnArguments& arguments) {
    auto* const on =
        verb.add_option("--on",
                        arguments.hosts,
                        "Record on these hosts, or on all that have an agent: db1,db2 or all");
    on->type_name("HOSTS");
    verb.add_option("--collector",
                    arguments.collector,
                    "With --on: where the collector of these agents listens")
        ->needs(on)
        ->type_name("ADDRESS");
    verb.add_option("--certificates",
                    arguments.certificates,
                    "With --on: folder of ours, as `dyetrace pki` makes it")
        ->needs(on)
        ->type_name("FOLDER");
    verb.add_flag("--insecure",
                  arguments.insecure,
                  "With --on: without encryption, on a loopback address only")
        ->needs(on);
}

// What an agent tells its recorder; nobody else needs them.
void add_agent_options(CLI::App& verb, RecordArguments& arguments) {
    verb.add_option("--control-fd", arguments.control_fd)->group("");
    verb.add_option("--host-index", arguments.host_index)
        ->check(CLI::Range(0u, trace::kHostsMax - 1))
        ->group("");
    verb.add_option("--host-name", arguments.host_name)->group("");
    verb.add_option("--segment-records", arguments.segment_records)
        ->check(CLI::Range(trace::kSegmentRecordsMin, trace::SegmentLimits().records_max))
        ->group("");
}

}  // namespace

void add_record(CLI::App& app, int& exit_status) {
    auto arguments = std::make_shared<RecordArguments>();
    CLI::App* verb =
        app.add_subcommand("record", "Record a command, processes or the whole system");
    verb->add_option(
            "-o,--output", arguments->output, "Folder of the trace (default: dyetrace-<time>)")
        ->type_name("TRACE");
    verb->add_option("--group",
                     arguments->group,
                     "Who may read the trace besides its owner: a group's name or number")
        ->type_name("GROUP");
    add_target_options(*verb, arguments->targets);
    verb->add_option("--ring",
                     arguments->ring,
                     "Memory per CPU for events not yet read, from 64K to 512M; rounded up to a "
                     "power of two")
        ->check(&refuse_ring)
        ->capture_default_str()
        ->type_name("SIZE");
    add_selection_options(*verb, arguments->selection);
    verb->add_option("--node-by",
                     arguments->node_by,
                     "What the column `node` says: host, netns (network namespace), container")
        ->check(CLI::IsMember({"host", "netns", "container"}, CLI::ignore_case))
        ->type_name("KIND");
    add_content_options(*verb, *arguments);
    add_probe_options(*verb, *arguments);
    add_on(*verb, arguments->on);
    add_agent_options(*verb, *arguments);
    verb->add_flag("--no-seal",
                   arguments->no_seal,
                   "Leave the trace in segments; `dyetrace seal` makes Parquet of them later");
    verb->add_flag("--ui",
                   arguments->show_page,
                   "Show the trace in the browser while it grows, and after it until Ctrl-C");
#ifdef DYETRACE_TEST_CLOCK
    verb->add_option("--test-clock", arguments->test_clock)->group("");
#endif
    verb->footer(
        "Examples:\n"
        "  dyetrace record -o trace -- git clone https://example.org/x.git\n"
        "  dyetrace record -p 4711,4712 --duration 30s\n"
        "  dyetrace record -a --duration 1m --where \"class = 'file' and bytes > 100000\"\n"
        "  dyetrace record -P '/var/lib/*' --errors -- ./server\n"
        "  dyetrace record --probe \"tracepoint('sched', 'sched_switch')\" -- ./load\n"
        "  dyetrace record -a --dye card=4929123456781234 --dye-forms base64,hex\n"
        "  dyetrace record --on all --collector traces.example.org -- ./load");
    verb->callback([arguments, &exit_status] { exit_status = run_record(*arguments); });
}

}  // namespace dyetrace::apps
