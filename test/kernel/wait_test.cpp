// futex, nanosleep, clock_nanosleep, pause, rt_sigsuspend, rt_sigtimedwait; what a signal interrupts.
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>

#include "kernel/old_calls.h"
#include "kernel/rows.h"

namespace dyetrace::test {
namespace {

class Wait : public RowsTest {
  protected:
    static void on_alarm() {
        struct sigaction action {};
        action.sa_handler = [](int) {};
        sigaction(SIGALRM, &action, nullptr);
    }
    // What is interrupted finds something to read, in descriptor 4's pipe, when it is begun again.
    static void on_alarm_write() {
        struct sigaction action {};
        action.sa_handler = [](int) { REQUIRE(write(4, "abc", 3) == 3); };
        action.sa_flags = SA_RESTART;
        sigaction(SIGALRM, &action, nullptr);
    }
    // The child calls it: SIGALRM comes once it waits in this call, which it makes next.
    void ask_for_alarm_in(long call) { *alarm_in_ = call; }
    // The parent calls it, as meanwhile_.
    void send_alarm(pid_t child) {
        if (const long call = *alarm_in_; call >= 0 && is_in_call(child, call)) {
            *alarm_in_ = -1;
            kill(child, SIGALRM);
        }
    }
    Wait() {
        *alarm_in_ = -1;
        meanwhile_ = [this](pid_t child) { send_alarm(child); };
    }

  private:
    Shared<std::atomic<long>> alarm_in_;
};

TEST_F(Wait, sleeping_is_waiting) {
    const Trace trace = record([&] {
        const timespec short_time{0, 3'000'000};
        REQUIRE(syscall(SYS_nanosleep, &short_time, nullptr) == 0);
        REQUIRE(syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &short_time, nullptr) == 0);
        const timespec wrong{0, -1};
        REQUIRE(syscall(SYS_nanosleep, &wrong, nullptr) < 0);
    });
    EXPECT_EQ(rows(trace), lines(R"(
        nanosleep wait =0
        clock_nanosleep wait =0 {"which_clock":"CLOCK_MONOTONIC","flags":"0"}
        nanosleep wait =EINVAL
    )"));
    EXPECT_GE(trace.first("nanosleep").duration_ns().value(), 3'000'000);
    EXPECT_GT(trace.first("nanosleep").raw().off_cpu_ns, 1'000'000u);
}

TEST_F(Wait, a_futex_names_its_operation) {
    const std::string shown = rows([&] {
        const timespec short_time{0, 1'000'000};
        static int word = 7;
        REQUIRE(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 8, nullptr, nullptr, 0) < 0);
        REQUIRE(syscall(SYS_futex, &word, FUTEX_WAIT, 7, &short_time, nullptr, 0) < 0);
        REQUIRE(syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0) == 0);
    });
    EXPECT_EQ(shown, lines(R"(
        futex wait =EAGAIN {"uaddr":"0x*","op":"FUTEX_WAIT_PRIVATE","val":8,"utime":0,"uaddr2":"0x0","val3":0}
        futex wait =ETIMEDOUT {"uaddr":"0x*","op":"FUTEX_WAIT","val":7,"utime":*,"uaddr2":"0x0","val3":0}
        futex wait =0 {"uaddr":"0x*","op":"FUTEX_WAKE","val":1,"utime":0,"uaddr2":"0x0","val3":0}
    )"));
}

// Linux 5.16 and 6.7
TEST_F(Wait, futex_calls_of_their_own) {
    constexpr int kWait32 = 2;  // FUTEX2_SIZE_U32
    static std::uint32_t word = 7;
    if (syscall(454, &word, ~0u, 1, kWait32) < 0) {
        GTEST_SKIP() << "this kernel has no futex_wake";
    }
    const std::string shown = rows([&] {
        struct {
            std::uint64_t value, address;
            std::uint32_t flags, reserved;
        } waiters[2] = {{8, reinterpret_cast<std::uint64_t>(&word), kWait32, 0},
                        {7, reinterpret_cast<std::uint64_t>(&word), kWait32, 0}};
        REQUIRE(syscall(449, waiters, 1, 0, nullptr, CLOCK_MONOTONIC) < 0);
        REQUIRE(syscall(454, &word, ~0u, 1, kWait32) == 0);
        REQUIRE(syscall(455, &word, 8, ~0u, kWait32, nullptr, CLOCK_MONOTONIC) < 0);
        waiters[0].value = 7;
        REQUIRE(syscall(456, waiters, 0, 1, 1) == 0);
    });
    EXPECT_EQ(shown, lines(R"(
        futex_waitv wait =EAGAIN {"nr_futexes":1,"flags":0,"clockid":"CLOCK_MONOTONIC"}
        futex_wake wait =0 {"uaddr":"0x*","mask":4294967295,"nr":1,"flags":2}
        futex_wait wait =EAGAIN {"uaddr":"0x*","val":8,"mask":4294967295,"flags":2,"clockid":"CLOCK_MONOTONIC"}
        futex_requeue wait =0 {"flags":0,"nr_wake":1,"nr_requeue":1}
    )"));
}

TEST_F(Wait, a_signal_ends_a_wait) {
    NEEDS_OLD_CALLS();
    const std::string shown = rows([&] {
        sigset_t none, alarm;
        sigemptyset(&none);
        sigemptyset(&alarm);
        sigaddset(&alarm, SIGALRM);
        on_alarm();
        const itimerval far{{0, 0}, {1000, 0}};
        REQUIRE(setitimer(ITIMER_REAL, &far, nullptr) == 0);
        ask_for_alarm_in(SYS_pause);
        REQUIRE(pause() < 0);
        ask_for_alarm_in(SYS_rt_sigsuspend);
        REQUIRE(sigsuspend(&none) < 0);
        REQUIRE(sigprocmask(SIG_BLOCK, &alarm, nullptr) == 0);
        ask_for_alarm_in(SYS_rt_sigtimedwait);
        REQUIRE(syscall(SYS_rt_sigtimedwait, &alarm, nullptr, nullptr, 8) == SIGALRM);
    });
    EXPECT_EQ(shown, lines(R"(
        rt_sigaction process =0 {"sig":"SIGALRM","sigsetsize":8}
        setitimer other =0 {"which":"ITIMER_REAL"}
        pause wait =ERESTARTNOHAND
        rt_sigreturn other =-4
        rt_sigsuspend wait =ERESTARTNOHAND {"sigsetsize":8}
        rt_sigreturn other =-4
        rt_sigprocmask process =0 {"how":"SIG_BLOCK","sigsetsize":8}
        rt_sigtimedwait wait =14 {"sigsetsize":8}
    )"));
}

std::atomic<int> reader = 0;

void* read_for_ever(void* end) {
    char byte;
    reader = static_cast<int>(syscall(SYS_gettid));
    REQUIRE(read(*static_cast<int*>(end), &byte, 1) < 0);
    return nullptr;
}

TEST_F(Wait, what_is_under_way_when_the_recording_stops_is_unfinished) {
    const Trace trace = record_until_stopped([] {
        static int ends[2];
        pthread_t thread;
        REQUIRE(pipe(ends) == 0);
        REQUIRE(pthread_create(&thread, nullptr, read_for_ever, ends) == 0);
        while (!is_in_call(reader, SYS_read)) {
        }
    });
    std::string unfinished;
    for (const std::string& row : split_rows(rows(trace))) {
        unfinished += row.find(" unfinished") != std::string::npos ? row : "";
    }
    EXPECT_EQ(unfinished, lines(R"(
        pause wait unfinished
        p2 read pipe unfinished fd=3 #1 pipe [pipefs] pipe:[N] O_RDONLY -/1 {"count":1}
    )"));
}

TEST_F(Wait, an_interrupted_read_fails_or_is_begun_again) {
    const Trace trace = record([&] {
        char buffer[8];
        int ends[2];
        REQUIRE(pipe(ends) == 0);
        on_alarm();
        ask_for_alarm_in(SYS_read);
        REQUIRE(read(3, buffer, 8) < 0 && errno == EINTR);
        on_alarm_write();
        ask_for_alarm_in(SYS_read);
        REQUIRE(read(3, buffer, 8) == 3);
    });
    std::string reads;
    for (const std::string& row : split_rows(rows(trace))) {
        reads += row.starts_with("read ") ? row : "";
    }
    EXPECT_EQ(reads, lines(R"(
        read pipe =ERESTARTSYS fd=3 #1 pipe [pipefs] pipe:[N] O_RDONLY -/8 {"count":8}
        read pipe =ERESTARTSYS fd=3 #1 pipe [pipefs] pipe:[N] O_RDONLY -/8 {"count":8}
        read pipe =3 fd=3 #1 pipe [pipefs] pipe:[N] O_RDONLY 3/8 {"count":8}
    )"));
}

}  // namespace
}  // namespace dyetrace::test
