#include "recorder/background.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace dyetrace::recorder {
namespace {

constexpr std::chrono::seconds kTimeout(20);

bool becomes(int policy) {
    const auto end = std::chrono::steady_clock::now() + kTimeout;
    while (sched_getscheduler(0) != policy) {
        if (std::chrono::steady_clock::now() > end) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

TEST(Background, asks_as_soon_as_the_alarm_rings) {
    if (geteuid() != 0) {
        GTEST_SKIP() << "only root may leave SCHED_IDLE again";
    }
    const base::Fd alarm(eventfd(0, EFD_CLOEXEC));
    std::atomic<bool> lags = false;
    const Background background([&](bool) { return lags.load(); }, alarm.get());
    EXPECT_TRUE(becomes(SCHED_IDLE));
    lags = true;
    eventfd_write(alarm.get(), 1);
    EXPECT_TRUE(becomes(SCHED_OTHER));
}

TEST(Background, gives_way_hurries_and_is_as_before_afterwards) {
    if (geteuid() != 0) {
        GTEST_SKIP() << "only root may leave SCHED_IDLE again";
    }
    const int nice = getpriority(PRIO_PROCESS, 0);
    std::atomic<bool> lags = false;
    std::atomic<int> asked_while_hurrying = 0;
    {
        const Background background(
            [&](bool hurrying) {
                asked_while_hurrying += hurrying ? 1 : 0;
                return lags.load();
            },
            -1);
        EXPECT_TRUE(becomes(SCHED_IDLE));
        const int asked = asked_while_hurrying;
        lags = true;
        EXPECT_TRUE(becomes(SCHED_OTHER));
        while (asked_while_hurrying == asked) {
            std::this_thread::yield();
        }
        EXPECT_LE(getpriority(PRIO_PROCESS, 0), nice);
        lags = false;
        EXPECT_TRUE(becomes(SCHED_IDLE));
    }
    EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
    EXPECT_EQ(getpriority(PRIO_PROCESS, 0), nice);
}

// A recorder of somebody with no more than the rights to BPF.
TEST(Background, does_not_enter_what_it_may_not_leave) {
    if (geteuid() != 0) {
        GTEST_SKIP() << "only root may become somebody who may not leave SCHED_IDLE";
    }
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const rlimit none{0, 0};
        if (setrlimit(RLIMIT_NICE, &none) != 0 || setresuid(65534, 65534, 65534) != 0) {
            _exit(2);
        }
        const Background background([](bool) { return false; }, -1);
        _exit(!may_leave_idle() && sched_getscheduler(0) == SCHED_OTHER ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace dyetrace::recorder
