#include "apps/recording.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "apps/record_facts.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/version.h"

namespace dyetrace::apps {
namespace {

using base::Error;
using base::ErrorCode;
using base::Fd;
using base::Result;

constexpr int kDrainBusyMs = 10;   // at 300,000 events/s a CPU writes 0.6 MB in this time
constexpr int kDrainIdleMs = 100;  // an idle recorder looks ten times a second
constexpr double kDrainNowFill = 0.25;
constexpr std::int64_t kTickNs = 1'000'000'000;
constexpr int kSealerNice = 10;

// Signals are read in the loop, so that none comes between two lines of it.
Fd take_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD}) {
        sigaddset(&set, number);
    }
    sigprocmask(SIG_BLOCK, &set, nullptr);
    return Fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

std::uint64_t cpu_ns(int who) {
    rusage usage{};
    getrusage(who, &usage);
    const auto ns = [](const timeval& time) { return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_usec) * 1000u; };
    return ns(usage.ru_utime) + ns(usage.ru_stime);
}

std::uint64_t peak_memory_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024u;
}

bool is_alive(pid_t process) { return kill(process, 0) == 0 || errno == EPERM; }

}  // namespace

struct Recording::State {
    RecordingOptions options;
    trace::TraceFolder folder;
    capture::Capture capture;
    std::optional<trace::SegmentWriter> writer = std::nullopt;
    std::optional<FactWriter> facts = std::nullopt;
    std::optional<Child> child = std::nullopt;
    Fd signals = {};
    pid_t sealer = -1;
    std::int64_t started_ns = 0;
    std::int64_t flushed_ns = 0;
    std::int64_t ticked_ns = 0;
    std::int64_t drained_ns = 0;
    std::vector<std::uint64_t> lost_before = {};
    std::uint64_t child_cpu_ns = 0;  // of the command and its children, which is not ours
    std::optional<Error> failure = std::nullopt;
    int interrupts = 0;
    bool stop = false;

    Result<void> begin(const base::Log& log);
    void loop();
    std::uint64_t drain();
    void write_losses();
    void tick();
    void handle_signals();
    bool ended();
    Result<void> finish();
    void start_sealer(const base::Log& log);
    void await_sealer();
    Summary summary() const;
    void note(Result<void> result);
};

Recording::Recording(std::unique_ptr<State> state) : state_(std::move(state)) {}
Recording::Recording(Recording&&) noexcept = default;
Recording& Recording::operator=(Recording&&) noexcept = default;
Recording::~Recording() = default;

Result<Recording> Recording::start(RecordingOptions options) {
    capture::CaptureOptions listen;
    listen.watch_all = options.whole_system;
    listen.follow_children = options.follow_children;
    listen.event_ring_bytes = options.ring_bytes;
    TRY(capture::Capture capture, capture::Capture::load(listen));
    TRY(trace::Host host, trace::this_host());
    trace::TraceInfo info;
    info.program = "dyetrace " + std::string(base::kVersion);
    info.options = options.as_given;
    info.hosts.push_back(std::move(host));
    TRY(trace::TraceFolder folder, trace::TraceFolder::create(options.trace_path, std::move(info)));
    // the writer refers to the folder, which has to be in its final place first
    auto state = std::make_unique<State>(State{std::move(options), std::move(folder), std::move(capture)});
    TRY(trace::SegmentWriter writer, trace::SegmentWriter::create(state->folder, 0));
    state->writer.emplace(std::move(writer));
    state->facts.emplace(*state->writer, state->capture.cpu_count());
    state->lost_before.resize(state->capture.cpu_count());
    return Recording(std::move(state));
}

// The first failure of the trace ends the recording; the command goes on.
void Recording::State::note(Result<void> result) {
    if (!result.ok() && !failure) {
        failure = result.error();
    }
}

Result<void> Recording::State::begin(const base::Log& log) {
    signals = take_signals();
    started_ns = base::boot_time_ns();
    drained_ns = started_ns;
    if (!options.command.empty()) {
        TRY(Child started, Child::start(options.command));
        child.emplace(std::move(started));
        TRY(capture.watch(child->pid()));
    }
    TRY(capture.exclude(getpid()));
    TRY(capture.attach());
    for (const pid_t process : options.processes) {
        TRY(capture.watch(process));
    }
    for (const capture::Source& source : capture.sources()) {
        TRY(facts->write_coverage(source));
    }
    if (options.seal) {
        start_sealer(log);
    }
    tick();
    if (child) {
        TRY(child->release());
    }
    return {};
}

std::uint64_t Recording::State::drain() {
    const std::int64_t now = base::boot_time_ns();
    write_losses();
    const std::uint64_t bytes = capture.drain([this](std::uint32_t cpu, schema::Stream stream, std::span<const std::byte> records) {
        if (!failure) {
            note(writer->append(cpu, stream, records));
        }
    });
    drained_ns = now;
    return bytes;
}

// What was lost since the rings were last emptied is a gap that began no earlier than that.
void Recording::State::write_losses() {
    for (std::uint32_t cpu = 0; cpu < capture.cpu_count(); ++cpu) {
        const capture::Books books = capture.books(cpu);
        const std::uint64_t lost = books.lost - lost_before[cpu];
        if (lost > 0 && !failure) {
            note(facts->write_gap(cpu, static_cast<std::uint64_t>(drained_ns), books.last_lost_ns, lost, schema::GapReason::kRingFull));
        }
        lost_before[cpu] = books.lost;
    }
}

void Recording::State::tick() {
    ticked_ns = base::boot_time_ns();
    if (failure) {
        return;
    }
    note(facts->write_clocks());
    for (std::uint32_t cpu = 0; cpu < capture.cpu_count() && !failure; ++cpu) {
        note(facts->write_books(cpu, capture.books(cpu)));
    }
}

void Recording::State::handle_signals() {
    signalfd_siginfo info{};
    while (read(signals.get(), &info, sizeof(info)) == sizeof(info)) {
        const int number = static_cast<int>(info.ssi_signo);
        if (number == SIGCHLD) {
            continue;
        }
        // Ctrl-C reaches the command itself: its end is ours. A second one does not wait for that.
        const bool from_terminal = info.ssi_code == SI_KERNEL;
        if (child && number == SIGINT && from_terminal && interrupts++ == 0) {
            continue;
        }
        if (child && !child->poll() && !from_terminal) {
            child->signal(number);
            continue;
        }
        stop = true;
    }
}

bool Recording::State::ended() {
    if (stop || failure) {
        return true;
    }
    if (child && child->poll()) {
        return true;
    }
    if (options.duration && base::boot_time_ns() - started_ns >= options.duration->count()) {
        return true;
    }
    return !options.processes.empty() && std::none_of(options.processes.begin(), options.processes.end(), is_alive);
}

void Recording::State::loop() {
    int wait_ms = kDrainBusyMs;
    while (!ended()) {
        pollfd waiting{signals.get(), POLLIN, 0};
        if (poll(&waiting, 1, capture.fill() > kDrainNowFill ? 0 : wait_ms) > 0) {
            handle_signals();
        }
        const std::uint64_t bytes = drain();
        wait_ms = bytes > 0 ? kDrainBusyMs : std::min(wait_ms * 2, kDrainIdleMs);
        const std::int64_t now = base::boot_time_ns();
        if (now - flushed_ns >= trace::kFlushIntervalMs * std::int64_t{1'000'000} && !failure) {
            note(writer->flush());
            flushed_ns = now;
        }
        if (now - ticked_ns >= kTickNs) {
            tick();
        }
    }
}

Result<void> Recording::State::finish() {
    TRY(capture.stop());
    drain();
    tick();
    if (failure) {
        return *failure;
    }
    TRY(writer->close());
    return folder.finish();
}

// The sealer is this program again: niced, so that it takes what the traced programs leave.
void Recording::State::start_sealer(const base::Log& log) {
    sealer = fork();
    if (sealer < 0) {
        log.warn("cannot start the sealer: the trace stays in segments until `dyetrace seal` is run");
        return;
    }
    if (sealer == 0) {
        setpgid(0, 0);  // Ctrl-C is not meant for it
        setpriority(PRIO_PROCESS, 0, kSealerNice);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, nullptr);
        execl("/proc/self/exe", "dyetrace", "seal", "--follow", options.trace_path.c_str(), nullptr);
        _exit(127);
    }
}

void Recording::State::await_sealer() {
    int status = 0;
    if (sealer > 0) {
        while (waitpid(sealer, &status, 0) < 0 && errno == EINTR) {
        }
    }
}

Summary Recording::State::summary() const {
    Summary result;
    for (std::uint32_t cpu = 0; cpu < capture.cpu_count(); ++cpu) {
        const capture::Books books = capture.books(cpu);
        result.generated += books.generated;
        result.lost += books.lost;
        result.filtered += books.filtered;
        result.facts_lost += books.facts_lost;
    }
    result.events = writer->totals().events;
    result.stored_bytes = writer->totals().stored_bytes;
    result.elapsed_ns = static_cast<std::uint64_t>(base::boot_time_ns() - started_ns);
    result.own_cpu_ns = cpu_ns(RUSAGE_SELF);
    result.own_memory_bytes = peak_memory_bytes();
    for (const capture::Source& source : capture.sources()) {
        if (source.state != schema::CoverageState::kOn) {
            result.not_seen.push_back(fmt::format("{}: {}", source.name, source.reason));
        }
    }
    return result;
}

Result<Summary> Recording::run(const base::Log& log) {
    State& state = *state_;
    if (Result<void> begun = state.begin(log); !begun.ok()) {
        state.stop = true;
        (void)state.finish();
        return begun.error();
    }
    state.loop();
    const Result<void> finished = state.finish();
    Summary summary = state.summary();
    if (state.child) {
        while (!(summary.command_status = state.child->poll())) {
            pollfd waiting{state.signals.get(), POLLIN, 0};
            poll(&waiting, 1, kDrainIdleMs);
            state.handle_signals();
        }
    }
    if (!finished.ok()) {
        log.fail(finished.error().with_context("the recording stopped early; what was recorded before can be read"));
        summary.failed = true;
    }
    state.await_sealer();
    return summary;
}

}  // namespace dyetrace::apps
