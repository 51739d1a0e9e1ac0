// dyetrace seal: makes Parquet files of a trace's segments. The recorder starts it beside itself, niced.

#include <fmt/format.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <optional>
#include <string>

#include "apps/cli/verbs.h"
#include "apps/store/confine_reader.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/spawn.h"
#include "base/text.h"
#include "store/spare_cpu.h"
#include "store/trace_sealer.h"
#include "trace/trace_folder.h"

namespace dyetrace::apps {
namespace {

// A new file in the folder wakes the sealer; a recorder that is killed makes none, so it looks by itself too.
constexpr int kLookIntervalMs = 1000;
constexpr std::chrono::seconds kTryAgainAfter{60};
constexpr int kIdleIoClass = 3 << 13;

// Under load sealing waits for a quiet moment, with at most this many segments (each a million events or more): their end
// would otherwise be long to wait for. Waiting costs no disk, a segment is hardly larger than its Parquet files.
constexpr std::size_t kSegmentsWaitingMax = 8;

struct SealArguments {
    std::string trace;
    bool follow = false;
    bool quiet = false;
};

// The sealer gives way to everything that does work for somebody. Whoever starts it gives it its share of the CPU, too (SCHED_IDLE), and another one when it is waited for.
void be_modest() {
    ::syscall(SYS_ioprio_set, 1 /* this process */, 0, kIdleIoClass);
}

// Waits until something appears in the folder, or for kLookIntervalMs.
class FolderWatch {
  public:
    explicit FolderWatch(const std::string& path)
        : notify_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
        if (notify_.valid()) {
            ::inotify_add_watch(notify_.get(), path.c_str(), IN_CREATE | IN_MOVED_TO | IN_DELETE);
        }
    }
    void wait() const {
        pollfd poll{notify_.get(), POLLIN, 0};
        ::poll(&poll, notify_.valid() ? 1 : 0, kLookIntervalMs);
        char events[4096];
        while (notify_.valid() && ::read(notify_.get(), events, sizeof(events)) > 0) {
        }
    }

  private:
    base::Fd notify_;
};

// Even where nobody else wants its CPU, it takes caches and memory bandwidth from those beside it (docs/performance.md).
bool may_seal(std::size_t waiting) {
    return waiting > kSegmentsWaitingMax || store::has_spare_cpu();
}

// Returns the state after which it looked.
Result<trace::TraceState> seal_now(const std::string& path,
                                   std::optional<store::TraceSealer>& sealer) {
    if (!sealer) {
        TRY(sealer, store::TraceSealer::start(path));
    }
    return sealer->seal_what_is_there(may_seal);
}

bool is_recording(const std::string& path) {
    Result<trace::TraceFolder> folder = trace::TraceFolder::open(path);
    if (!folder.ok()) {
        return false;
    }
    const Result<trace::TraceState> state = folder.value().current_state();
    return state.ok() && state.value() == trace::TraceState::kRecording;
}

// The disk was full, most likely: it may have room later, and has some when the recorder is gone.
void wait_for_better_times(const std::string& path, const FolderWatch& watch) {
    const auto until = std::chrono::steady_clock::now() + kTryAgainAfter;
    while (is_recording(path) && std::chrono::steady_clock::now() < until) {
        watch.wait();
    }
}

Result<store::SealedSegment> seal_trace(const SealArguments& arguments) {
    std::optional<store::TraceSealer> sealer;
    const FolderWatch watch(arguments.trace);
    for (;;) {
        const bool may_wait = arguments.follow && is_recording(arguments.trace);
        const Result<trace::TraceState> state = seal_now(arguments.trace, sealer);
        if (!state.ok()) {
            if (!may_wait) {
                return state.error();
            }
            wait_for_better_times(arguments.trace, watch);
        } else if (!arguments.follow || state.value() != trace::TraceState::kRecording) {
            return sealer->totals();
        } else {
            watch.wait();
        }
    }
}

int run_seal(const SealArguments& arguments) {
    const base::Log log = base::Log::to_stderr();
    if (arguments.follow) {
        be_modest();
        base::let_go_when_alone();
    }
    trace::keep_files_private(arguments.trace);
    confine_reader(log, {arguments.trace});
    const Result<store::SealedSegment> sealed = seal_trace(arguments);
    if (!sealed.ok() && arguments.follow && sealed.error().code() == ErrorCode::kUnavailable) {
        return 0;  // another one is at it: of a collector that was killed
    }
    if (!sealed.ok() && arguments.follow && trace::TraceFolder::open(arguments.trace).ok()) {
        // nothing is lost, and the recorder has its own say
        log.warn(
            fmt::format("{}: not all of it is Parquet; it can be read with dyetrace as it is, and "
                        "`dyetrace seal "
                        "{}` goes on when the cause is gone: {}",
                        arguments.trace,
                        arguments.trace,
                        sealed.error().text()));
        return kExitFailure;
    }
    if (!sealed.ok()) {
        log.fail(sealed.error());
        return kExitFailure;
    }
    if (!arguments.quiet) {
        log.say(fmt::format("{}: {} events sealed, {}",
                            arguments.trace,
                            base::with_separators(sealed.value().events),
                            base::bytes_text(sealed.value().parquet_bytes)));
    }
    return 0;
}

}  // namespace

void add_seal(CLI::App& app, int& exit_status) {
    auto arguments = std::make_shared<SealArguments>();
    CLI::App* verb =
        app.add_subcommand("seal", "Make Parquet files of what a trace has in segments");
    verb->add_option("trace", arguments->trace, "Folder of the trace")
        ->required()
        ->type_name("TRACE");
    verb->add_flag(
        "--follow", arguments->follow, "Go on, at the lowest priority, until the recording ends");
    verb->add_flag("-q,--quiet", arguments->quiet, "Say nothing when all went well");
    verb->footer("Examples:\n  dyetrace seal trace");
    verb->callback([arguments, &exit_status] { exit_status = run_seal(*arguments); });
}

}  // namespace dyetrace::apps
