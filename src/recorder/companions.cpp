#include "recorder/companions.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "base/signals.h"
#include "base/spawn.h"

namespace dyetrace::recorder {
namespace {

constexpr sched_param kNoParameters{};
constexpr std::chrono::milliseconds kLookEvery{100};

void await(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
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
    sched_setscheduler(sealer_, SCHED_IDLE, &kNoParameters);
}

void Companions::await_sealer() {
    if (sealer_ > 0) {
        sched_setscheduler(sealer_, SCHED_OTHER, &kNoParameters);  // somebody waits for it now
        await(sealer_);
    }
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
