#include "recorder/companions.h"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "base/clock.h"
#include "base/signals.h"
#include "base/spawn.h"
#include "recorder/background.h"
#include "trace/trace_folder.h"

namespace dyetrace::recorder {
namespace {

constexpr sched_param kNoParameters{};
// A sealer that nobody could hurry when it is waited for: beside many who work it would get nothing for minutes in SCHED_IDLE.
constexpr int kNiceForever = 5;
constexpr std::chrono::milliseconds kLookEvery{100};
constexpr std::int64_t kShowAfterNs =
    300'000'000;  // on a terminal; what is done by then needs no progress
constexpr std::int64_t kSayEveryNs = 5'000'000'000;  // elsewhere, where each line stays
constexpr const char* kHowToLeave = "Ctrl-C leaves it alone, Ctrl-\\ ends it";

void await(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
}

std::uint64_t cpu_ns(const rusage& usage) {
    const auto ns = [](const timeval& time) {
        return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
               static_cast<std::uint64_t>(time.tv_usec) * 1000u;
    };
    return ns(usage.ru_utime) + ns(usage.ru_stime);
}

// "sealing: 12 of 44 segments"
std::string progress_text(const std::string& path) {
    std::size_t sealed = 0, waiting = 0;
    if (const auto folder = trace::TraceFolder::open(path); folder.ok()) {
        if (const auto list = folder.value().list(); list.ok()) {
            waiting = list.value().recorded.size();
            sealed = list.value().sealed.size();
        }
    }
    return fmt::format("sealing: {} of {} segments", sealed, sealed + waiting);
}

// How long somebody has waited for the sealer, and what they were told of it.
class SealingProgress {
  public:
    SealingProgress(const std::string& trace, const base::Log& log) : trace_(trace), log_(log) {}
    ~SealingProgress() {
        if (shown_) {
            log_.show("");
        }
    }
    SealingProgress(const SealingProgress&) = delete;
    SealingProgress& operator=(const SealingProgress&) = delete;

    std::int64_t waited_ns() const { return base::boot_time_ns() - begun_ns_; }

    void look() {
        if (waited_ns() < (log_.is_terminal() ? kShowAfterNs : kSayEveryNs * (said_ + 1))) {
            return;
        }
        const std::string text = progress_text(trace_);
        if (log_.is_terminal()) {
            log_.show(fmt::format("{} · {}", text, kHowToLeave));
            shown_ = true;
        } else {
            log_.say(text);
            ++said_;
        }
    }

  private:
    const std::string& trace_;
    const base::Log& log_;
    const std::int64_t begun_ns_ = base::boot_time_ns();
    std::int64_t said_ = 0;
    bool shown_ = false;
};

// What somebody who waits wants with this signal.
Sealing::End end_by(int signal) {
    switch (signal) {
        case SIGINT:
        case SIGHUP:
            return Sealing::End::kLeft;
        case SIGTERM:
        case SIGQUIT:
            return Sealing::End::kStopped;
        default:
            return Sealing::End::kDone;
    }
}

}  // namespace

void Companions::start_sealer() {
    auto started = base::spawn_in_background("/proc/self/exe",
                                             {"dyetrace", "seal", "--follow", "--quiet", trace_});
    if (!started.ok()) {
        return log_.warn(
            "cannot start the sealer: the trace stays in segments until `dyetrace seal` is run");
    }
    sealer_ = started.value();
    if (may_leave_idle()) {
        sched_setscheduler(sealer_, SCHED_IDLE, &kNoParameters);
    } else {
        setpriority(PRIO_PROCESS, static_cast<id_t>(sealer_), kNiceForever);
    }
}

std::optional<Sealing> Companions::await_sealer() {
    if (sealer_ <= 0) {
        return std::nullopt;
    }
    sched_setscheduler(sealer_, SCHED_OTHER, &kNoParameters);  // somebody waits for it now
    const base::Fd signals = base::take_signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD});
    SealingProgress progress(trace_, log_);
    Sealing sealing;
    int status = 0;
    rusage used{};
    while (wait4(sealer_, &status, WNOHANG, &used) == 0) {
        progress.look();
        pollfd waiting{signals.get(), POLLIN, 0};
        poll(&waiting, 1, static_cast<int>(kLookEvery.count()));
        signalfd_siginfo info{};
        while (sealing.end == Sealing::End::kDone &&
               read(signals.get(), &info, sizeof(info)) == sizeof(info)) {
            sealing.end = end_by(static_cast<int>(info.ssi_signo));
        }
        if (sealing.end == Sealing::End::kLeft) {
            sched_setscheduler(sealer_, SCHED_IDLE, &kNoParameters);
            break;
        }
        if (sealing.end == Sealing::End::kStopped) {
            kill(sealer_, SIGTERM);
            kill(sealer_, SIGCONT);
            wait4(sealer_, &status, 0, &used);
            break;
        }
    }
    if (sealing.end == Sealing::End::kDone && status != 0) {
        sealing.end = WIFSIGNALED(status) ? Sealing::End::kStopped : Sealing::End::kFailed;
    }
    sealing.waited_ns = static_cast<std::uint64_t>(progress.waited_ns());
    sealing.cpu_ns = cpu_ns(used);
    return sealing;
}

void Companions::start_page() {
    auto started = base::spawn_in_background("/proc/self/exe", {"dyetrace", "ui", trace_});
    if (!started.ok()) {
        return log_.warn("cannot start the page: `dyetrace ui` shows the trace, now or later");
    }
    page_ = started.value();
}

void Companions::await_page_reader() {
    int status = 0;
    if (page_ <= 0 || waitpid(page_, &status, WNOHANG) != 0) {
        return;
    }
    log_.say("the page stays until Ctrl-C");
    const base::Fd signals = base::take_ending_signals();
    while (!base::was_asked_to_end(signals) && waitpid(page_, &status, WNOHANG) == 0) {
        std::this_thread::sleep_for(kLookEvery);
    }
    kill(page_, SIGTERM);
    await(page_);
}

}  // namespace dyetrace::recorder
