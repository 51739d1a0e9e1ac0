// signal_deliver: signals that a thread handles, or that end it. Each is compared as the column `arguments` shows it.
#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include "kernel/recorded.h"
#include "schema/signals.h"

namespace dyetrace::test {
namespace {

using schema::SignalEvent;

sigjmp_buf after_the_fault;

void handle(
    int number, void (*handler)(int) = [](int) {}) {
    struct sigaction action {};
    action.sa_handler = handler;
    REQUIRE(sigaction(number, &action, nullptr) == 0);
}

class Signal : public KernelTest {
  protected:
    // In the order of their times: a process may have moved to another CPU in between, which has a ring of its own.
    static std::vector<const SignalEvent*> events(const Trace& trace) {
        std::vector<const SignalEvent*> found;
        for (const auto& words : trace.records().events) {
            if (const auto* event = schema::as<SignalEvent>(std::as_bytes(std::span(words)))) {
                found.push_back(event);
            }
        }
        std::ranges::stable_sort(found, {}, &SignalEvent::start_ns);
        return found;
    }
    // All of them, a line each.
    static std::string arguments(const Trace& trace) {
        std::string out;
        for (const SignalEvent* event : events(trace)) {
            schema::append_signal_json(out, *event);
            out.push_back('\n');
        }
        return out;
    }
};

TEST_F(Signal, kill_names_its_sender_and_who_got_it) {
    const Shared<pid_t> sender, receiver;
    const Trace trace = record([&] {
        handle(SIGUSR1);
        *receiver = getpid();
        const pid_t child = fork();
        if (child == 0) {
            REQUIRE(setresuid(1000, 0, 0) == 0);
            REQUIRE(kill(getppid(), SIGUSR1) == 0);
            _exit(0);
        }
        *sender = child;
        int status = -1;
        while (waitpid(child, &status, 0) < 0) {
        }
        REQUIRE(status == 0);
    });
    EXPECT_EQ(
        arguments(trace),
        fmt::format("{{\"signal\":\"SIGUSR1\",\"code\":\"SI_USER\",\"pid\":{},\"uid\":1000}}\n",
                    *sender));
    const SignalEvent& event = *events(trace).at(0);
    const schema::Task* task = trace.records().dictionary->task(event.context_id);
    ASSERT_NE(task, nullptr);
    EXPECT_EQ(task->tid, static_cast<std::uint32_t>(*receiver));
    EXPECT_EQ(event.header.flags, 1);  // readers that do not know it skip it
    const Event killing = trace.only("kill");
    EXPECT_GE(event.start_ns, killing.raw().start_ns);
}

TEST_F(Signal, sigqueue_hands_over_a_value) {
    const Shared<pid_t> self;
    const Trace trace = record([&] {
        *self = getpid();
        handle(SIGUSR1);
        handle(SIGRTMIN);
        sigval value{};
        value.sival_int = 7;
        REQUIRE(sigqueue(getpid(), SIGUSR1, value) == 0);
        value.sival_ptr = reinterpret_cast<void*>(0x123456789a);
        REQUIRE(sigqueue(getpid(), SIGRTMIN, value) == 0);
        REQUIRE(raise(SIGUSR1) == 0);
    });
    const std::string from = fmt::format("\"pid\":{},\"uid\":0", *self);
    EXPECT_EQ(arguments(trace),
              "{\"signal\":\"SIGUSR1\",\"code\":\"SI_QUEUE\"," + from + ",\"value\":7}\n" +
                  "{\"signal\":\"SIGRT_2\",\"code\":\"SI_QUEUE\"," + from +
                  ",\"value\":78187493530}\n" + "{\"signal\":\"SIGUSR1\",\"code\":\"SI_TKILL\"," +
                  from + ",\"value\":0}\n");
}

TEST_F(Signal, a_fault_has_its_address) {
    const Shared<std::uint64_t> page;
    const Trace trace = record([&] {
        void* memory = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        *page = reinterpret_cast<std::uint64_t>(memory);
        for (const int number : {SIGSEGV, SIGILL}) {
            handle(number, [](int) { siglongjmp(after_the_fault, 1); });
        }
        if (sigsetjmp(after_the_fault, 1) == 0) {
            *reinterpret_cast<volatile int*>(*page) = 1;
        }
        munmap(memory, 4096);
        if (sigsetjmp(after_the_fault, 1) == 0) {
            *reinterpret_cast<volatile int*>(*page + 8) = 1;
        }
    });
    EXPECT_EQ(
        arguments(trace),
        fmt::format("{{\"signal\":\"SIGSEGV\",\"code\":\"SEGV_ACCERR\",\"address\":\"{:#x}\"}}\n"
                    "{{\"signal\":\"SIGSEGV\",\"code\":\"SEGV_MAPERR\",\"address\":\"{:#x}\"}}\n",
                    *page,
                    *page + 8));
}

TEST_F(Signal, the_end_of_a_child_tells_how) {
    const Shared<pid_t> child;
    const Trace trace = record([&] {
        handle(SIGCHLD);
        const pid_t pid = fork();
        if (pid == 0) {
            _exit(3);
        }
        *child = pid;
        while (waitpid(pid, nullptr, 0) < 0) {
        }
    });
    EXPECT_EQ(arguments(trace),
              fmt::format("{{\"signal\":\"SIGCHLD\",\"code\":\"CLD_EXITED\",\"pid\":{},\"uid\":0,"
                          "\"status\":3,\"utime\":{},\"stime\":{}}}\n",
                          *child,
                          events(trace).at(0)->user_ticks,
                          events(trace).at(0)->system_ticks));
    EXPECT_LT(events(trace).at(0)->user_ticks, 100u * kChildSecondsMax);
}

TEST_F(Signal, timers) {
    const Trace trace = record([] {
        handle(SIGALRM);
        handle(SIGUSR2);
        const itimerval soon{{0, 0}, {0, 3000}};
        sigset_t none, ours;
        sigemptyset(&none);
        sigemptyset(&ours);
        sigaddset(&ours, SIGALRM);
        sigaddset(&ours, SIGUSR2);
        REQUIRE(sigprocmask(SIG_BLOCK, &ours, nullptr) == 0);
        REQUIRE(setitimer(ITIMER_REAL, &soon, nullptr) == 0);
        sigsuspend(&none);
        sigevent how{};
        how.sigev_notify = SIGEV_SIGNAL;
        how.sigev_signo = SIGUSR2;
        how.sigev_value.sival_int = 9;
        timer_t timer{};
        REQUIRE(timer_create(CLOCK_MONOTONIC, &how, &timer) == 0);
        const itimerspec once{{0, 0}, {0, 3'000'000}};
        REQUIRE(timer_settime(timer, 0, &once, nullptr) == 0);
        sigsuspend(&none);
    });
    EXPECT_EQ(
        arguments(trace),
        "{\"signal\":\"SIGALRM\",\"code\":\"SI_KERNEL\"}\n"
        "{\"signal\":\"SIGUSR2\",\"code\":\"SI_TIMER\",\"timer\":0,\"overrun\":0,\"value\":9}\n");
}

TEST_F(Signal, what_is_ignored_or_blocked_does_not_come) {
    const Trace trace = record([] {
        handle(SIGUSR1, SIG_IGN);
        sigset_t blocked;
        sigemptyset(&blocked);
        sigaddset(&blocked, SIGUSR2);
        REQUIRE(sigprocmask(SIG_BLOCK, &blocked, nullptr) == 0);
        REQUIRE(kill(getpid(), SIGUSR1) == 0);
        REQUIRE(kill(getpid(), SIGUSR2) == 0);
        REQUIRE(kill(getpid(), SIGWINCH) == 0);
    });
    EXPECT_EQ(trace.count("kill"), 3u);
    EXPECT_EQ(arguments(trace), "");
}

// It is kept as long as it is blocked, since the program might come to handle it.
TEST_F(Signal, what_is_ignored_when_it_is_no_longer_blocked_does_not_come) {
    const Shared<pid_t> self;
    const Trace trace = record([&] {
        *self = getpid();
        handle(SIGUSR1, SIG_IGN);
        handle(SIGURG);
        sigset_t blocked;
        sigfillset(&blocked);
        REQUIRE(sigprocmask(SIG_BLOCK, &blocked, nullptr) == 0);
        for (const int number : {SIGUSR1, SIGCHLD, SIGWINCH, SIGCONT, SIGURG}) {
            REQUIRE(kill(getpid(), number) == 0);
        }
        sigset_t waiting;
        REQUIRE(sigpending(&waiting) == 0 && sigismember(&waiting, SIGCHLD) == 1);
        REQUIRE(sigprocmask(SIG_UNBLOCK, &blocked, nullptr) == 0);
    });
    EXPECT_EQ(trace.count("kill"), 5u);
    EXPECT_EQ(arguments(trace),
              fmt::format("{{\"signal\":\"SIGURG\",\"code\":\"SI_USER\",\"pid\":{},\"uid\":0}}\n",
                          *self));
}

void* sleep_for_ever(void*) {
    pause();
    return nullptr;
}

void start_thread() {
    pthread_t thread;
    REQUIRE(pthread_create(&thread, nullptr, sleep_for_ever, nullptr) == 0);
}

TEST_F(Signal, what_ends_a_process_is_one_event_with_its_sender) {
    const Shared<pid_t> self;
    const Trace trace = record(
        [&] {
            *self = getpid();
            start_thread();
            start_thread();
            kill(getpid(), SIGTERM);
        },
        SIGTERM);
    EXPECT_EQ(arguments(trace),
              fmt::format("{{\"signal\":\"SIGTERM\",\"code\":\"SI_USER\",\"pid\":{},\"uid\":0}}\n",
                          *self));
}

// The kernel keeps no siginfo of a SIGKILL.
TEST_F(Signal, sigkill) {
    const Trace trace = record(
        [] {
            start_thread();
            kill(getpid(), SIGKILL);
        },
        SIGKILL);
    EXPECT_EQ(arguments(trace), "{\"signal\":\"SIGKILL\"}\n");
}

TEST_F(Signal, a_crash_of_several_threads_is_one_event) {
    const Trace trace = record(
        [] {
            start_thread();
            volatile std::uintptr_t nowhere = 16;
            *reinterpret_cast<volatile int*>(nowhere) = 1;
        },
        SIGSEGV);
    EXPECT_EQ(arguments(trace),
              "{\"signal\":\"SIGSEGV\",\"code\":\"SEGV_MAPERR\",\"address\":\"0x10\"}\n");
}

TEST_F(Signal, that_a_process_ends_its_threads_is_no_signal) {
    const Trace trace = record([] {
        start_thread();
        start_thread();
        syscall(SYS_exit_group, 0);
    });
    EXPECT_EQ(trace.count("exit_group"), 1u);
    EXPECT_EQ(arguments(trace), "");
}

TEST_F(Signal, the_sender_is_named_as_the_receiver_knows_it) {
    before_ = [] { REQUIRE(unshare(CLONE_NEWPID) == 0); };
    const Trace trace = record([] {
        const pid_t first = fork();
        if (first == 0) {
            handle(SIGUSR1);
            REQUIRE(getpid() == 1);
            REQUIRE(kill(getpid(), SIGUSR1) == 0);
            _exit(0);
        }
        REQUIRE(waitpid(first, nullptr, 0) == first);
    });
    EXPECT_EQ(arguments(trace),
              "{\"signal\":\"SIGUSR1\",\"code\":\"SI_USER\",\"pid\":1,\"uid\":0}\n");
    const schema::Task* task = trace.records().dictionary->task(events(trace).at(0)->context_id);
    ASSERT_NE(task, nullptr);
    EXPECT_EQ(task->pid_in_namespace, 1u);
    EXPECT_NE(task->pid, 1u);
}

}  // namespace
}  // namespace dyetrace::test
