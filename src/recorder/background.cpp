#include "recorder/background.h"

#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <iterator>
#include <utility>

namespace dyetrace::recorder {
namespace {

constexpr int kAskEveryMs = 10;
constexpr int kHurryNice =
    -5;  // a thread that lags goes before the programs: an event that is lost is lost

bool set_policy(pid_t thread, int policy) {
    const sched_param none{};
    return sched_setscheduler(thread, policy, &none) == 0;
}

}  // namespace

bool may_leave_idle() {
    bool may = false;
    std::jthread([&may] {
        const pid_t self = gettid();
        may = sched_getscheduler(self) == SCHED_OTHER && set_policy(self, SCHED_IDLE) &&
              set_policy(self, SCHED_OTHER);
    }).join();
    return may;
}

Background::Background(std::function<bool(bool)> must_hurry, int alarm)
    : must_hurry_(std::move(must_hurry)),
      alarm_(alarm),
      stop_(eventfd(0, EFD_CLOEXEC)),
      thread_(gettid()),
      possible_(stop_.valid() && may_leave_idle()) {
    if (possible_) {
        watcher_ = std::jthread([this] { watch(); });
    }
}

Background::~Background() {
    if (possible_) {
        eventfd_write(stop_.get(), 1);
        watcher_.join();
    }
}

void Background::watch() {
    const auto thread = static_cast<id_t>(thread_);
    const int nice = getpriority(PRIO_PROCESS, thread);
    bool hurrying = true;
    do {
        const bool hurry = must_hurry_(hurrying);
        if (hurry != hurrying) {
            set_policy(thread_, hurry ? SCHED_OTHER : SCHED_IDLE);
            setpriority(PRIO_PROCESS, thread, hurry ? kHurryNice : nice);
            hurrying = hurry;
        }
    } while (rest(hurrying));
    set_policy(thread_, SCHED_OTHER);
    setpriority(PRIO_PROCESS, thread, nice);
}

// False: the object ends. The alarm stays until the thread that it is for has heard it, which may take a while if it does not hurry.
bool Background::rest(bool hurrying) const {
    pollfd waiting[] = {{stop_.get(), POLLIN, 0}, {hurrying ? -1 : alarm_, POLLIN, 0}};
    if (poll(waiting, std::size(waiting), kAskEveryMs) > 0 && waiting[0].revents == 0 &&
        must_hurry_(hurrying) == hurrying) {
        poll(waiting, 1, 1);
    }
    return waiting[0].revents == 0;
}

}  // namespace dyetrace::recorder
