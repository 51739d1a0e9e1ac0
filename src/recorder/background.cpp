#include "recorder/background.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace dyetrace::recorder {
namespace {

constexpr std::chrono::milliseconds kLook(10);
constexpr int kHurryNice =
    -5;  // a thread that lags goes before the programs: an event that is lost is lost

bool set_policy(pid_t thread, int policy) {
    const sched_param none{};
    return sched_setscheduler(thread, policy, &none) == 0;
}

bool can_come_back(pid_t thread) {
    return sched_getscheduler(thread) == SCHED_OTHER && set_policy(thread, SCHED_IDLE) &&
           set_policy(thread, SCHED_OTHER);
}

}  // namespace

Background::Background(std::function<bool(bool)> must_hurry)
    : must_hurry_(std::move(must_hurry)), thread_(gettid()), possible_(can_come_back(thread_)) {
    if (possible_) {
        watcher_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
    }
}

Background::~Background() {
    if (possible_) {
        watcher_.request_stop();
        watcher_.join();
    }
}

void Background::watch(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    const auto thread = static_cast<id_t>(thread_);
    const int nice = getpriority(PRIO_PROCESS, thread);
    bool hurrying = true;
    while (!stop.stop_requested()) {
        const bool hurry = must_hurry_(hurrying);
        if (hurry != hurrying) {
            set_policy(thread_, hurry ? SCHED_OTHER : SCHED_IDLE);
            setpriority(PRIO_PROCESS, thread, hurry ? kHurryNice : nice);
            hurrying = hurry;
        }
        stopped.wait_for(lock, stop, kLook, [] { return false; });
    }
    set_policy(thread_, SCHED_OTHER);
    setpriority(PRIO_PROCESS, thread, nice);
}

}  // namespace dyetrace::recorder
