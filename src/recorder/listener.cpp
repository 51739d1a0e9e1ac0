#include "recorder/listener.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <set>

#include "base/clock.h"
#include "base/signals.h"
#include "recorder/descendants.h"

namespace dyetrace::recorder {
namespace {

constexpr int kChildPollMs = 100;

// Readable once the process has ended, waited for or not; unlike its number it never means another one.
base::Fd process_descriptor(pid_t process) {
    return base::Fd(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
}

bool is_alive(const base::Fd& process) {
    pollfd end{process.get(), POLLIN, 0};
    return process.valid() && poll(&end, 1, 0) == 0;
}

}  // namespace

Result<Listener> Listener::start(Targets targets, capture::CaptureOptions options) {
    options.watch_all = targets.whole_system;
    TRY(capture::Capture capture, capture::Capture::load(options));
    Listener listener(std::move(targets), std::move(capture));
    if (!listener.targets_.command.empty()) {
        // the command inherits the signal mask, so it starts before ours changes
        TRY(Child child, Child::start(listener.targets_.command));
        listener.child_.emplace(std::move(child));
    }
    listener.signals_ =
        base::take_signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD});
    return listener;
}

Result<Listener> Listener::start_counting(Targets targets) {
    capture::CaptureOptions options;
    options.count_only = true;
    options.event_ring_bytes = capture::kEventRingBytesMin;
    TRY(Listener listener, start(std::move(targets), options));
    TRY(listener.attach());
    TRY(listener.release());
    return listener;
}

Result<void> Listener::attach() {
    started_ns_ = base::boot_time_ns();
    if (child_) {
        TRY(capture_.watch_held_back(child_->pid()));
    }
    TRY(capture_.exclude(getpid()));
    TRY(capture_.attach());
    return watch_processes();
}

// Parents first, since their later children are watched by themselves; whoever was made between the mark of its parent and a look at
// /proc is found by the next look, until one finds nobody new.
Result<void> Listener::watch_processes() {
    for (const pid_t process : targets_.processes) {
        TRY(capture_.watch(process));
        processes_.push_back(process_descriptor(process));
    }
    std::set<pid_t> watched;
    for (bool found = targets_.with_descendants && !targets_.processes.empty(); found;) {
        found = false;
        TRY(const std::vector<pid_t> descendants, descendants_of(targets_.processes));
        for (const pid_t process : descendants) {
            if (!watched.insert(process).second) {
                continue;
            }
            found = true;
            Result<void> done = capture_.watch(process);
            if (!done.ok() && done.error().code() != ErrorCode::kNotFound &&
                done.error().code() != ErrorCode::kUnsupported) {
                return done;
            }
        }
    }
    return {};
}

Result<void> Listener::release() {
    return child_ ? child_->release() : Result<void>();
}

bool Listener::targets_ended() {
    return child_ ? child_->poll().has_value()
                  : !processes_.empty() &&
                        std::none_of(processes_.begin(), processes_.end(), is_alive);
}

bool Listener::ended() {
    if (stop_) {
        return true;
    }
    if (targets_.duration && base::boot_time_ns() - started_ns_ >= targets_.duration->count()) {
        return true;
    }
    if (!targets_ended()) {
        return false;
    }
    const Result<std::uint32_t> left =
        targets_.and_children ? capture_.watched() : Result<std::uint32_t>(0);
    return !left.ok() || left.value() == 0;
}

void Listener::take_signal(int number, bool from_terminal) {
    if (number == SIGCHLD) {
        return;
    }
    if (child_ && from_terminal && number == SIGINT && interrupts_++ == 0 && !child_->poll()) {
        return;
    }
    if (child_ && !from_terminal && !child_->poll()) {
        child_->signal(number);
        return;
    }
    stop_ = true;
}

void Listener::wait(int milliseconds) {
    pollfd waiting[] = {{signals_.get(), POLLIN, 0}, {capture_.wakeup_fd(), POLLIN, 0}};
    if (poll(waiting, std::size(waiting), capture_.may_sleep() ? milliseconds : 0) <= 0) {
        return;
    }
    if (waiting[1].revents != 0) {
        capture_.woken();
    }
    signalfd_siginfo info{};
    while (read(signals_.get(), &info, sizeof(info)) == sizeof(info)) {
        take_signal(static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL);
    }
}

std::optional<int> Listener::command_status() {
    if (!child_) {
        return std::nullopt;
    }
    while (!child_->poll()) {
        wait(kChildPollMs);
    }
    return child_->poll();
}

std::vector<std::string> Listener::unseen() const {
    std::vector<std::string> result;
    std::string off, partial;
    for (const capture::Source& source : capture_.sources()) {
        if (source.state == schema::CoverageState::kRefused) {
            result.push_back(fmt::format("not seen: {}: {}", source.name, source.reason));
        } else if (source.state != schema::CoverageState::kOn) {
            std::string& names = source.state == schema::CoverageState::kOff ? off : partial;
            names += (names.empty() ? "" : ", ") + source.name;
        }
    }
    // one line each; the table `coverage` has the reasons
    if (!off.empty()) {
        result.push_back("not seen: " + off);
    }
    if (!partial.empty()) {
        result.push_back("seen in part: " + partial);
    }
    return result;
}

}  // namespace dyetrace::recorder
