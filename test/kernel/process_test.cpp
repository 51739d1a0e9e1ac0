// clone, clone3, fork, vfork, exit, exit_group, wait4, waitid, kill family, prctl, ids: who is acted on.
#include <fcntl.h>
#include <linux/sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "kernel/old_calls.h"
#include "kernel/rows.h"

namespace dyetrace::test {
namespace {

class Process : public RowsTest {};

TEST_F(Process, children_are_followed) {
    NEEDS_OLD_CALLS();
    const std::string shown = rows([&] {
        pid_t child = static_cast<pid_t>(syscall(SYS_fork));
        if (child == 0) {
            REQUIRE(open("/none", O_RDONLY) < 0);
            syscall(SYS_exit_group, 3);
        }
        REQUIRE(syscall(SYS_wait4, child, nullptr, 0, nullptr) == child);
        clone_args how{};
        how.exit_signal = SIGCHLD;
        child = static_cast<pid_t>(syscall(SYS_clone3, &how, sizeof(how)));
        if (child == 0) {
            syscall(SYS_exit, 4);
        }
        REQUIRE(syscall(SYS_wait4, -1, nullptr, __WALL, nullptr) == child);
        child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
        if (child == 0) {
            syscall(SYS_exit, 5);
        }
        REQUIRE(syscall(SYS_wait4, child, nullptr, 0, nullptr) == child);
        REQUIRE(syscall(SYS_clone, CLONE_SIGHAND, 0, 0, 0, 0) < 0);
    });
    EXPECT_EQ(shown, lines(R"(
        fork process =p2 target=p2
        wait4 process =p2 target=p2 {"upid":p2,"options":"0"}
        clone3 process =p3 target=p3 {"size":88}
        wait4 process =p3 target=p3 {"upid":-1,"options":"__WALL"}
        clone process =p4 target=p4 {"clone_flags":"SIGCHLD","newsp":"0x0","tls":"0x0"}
        wait4 process =p4 target=p4 {"upid":p4,"options":"0"}
        clone process =EINVAL {"clone_flags":"CLONE_SIGHAND","newsp":"0x0","tls":"0x0"}
        p2 openat file =ENOENT /none "/none" {"dfd":"AT_FDCWD","flags":"O_RDONLY","mode":"000"}
        p2 exit_group process unfinished {"error_code":3}
        p3 exit process unfinished {"error_code":4}
        p4 exit process unfinished {"error_code":5}
    )"));
}

TEST_F(Process, vfork_returns_when_its_child_is_done) {
    const std::string shown = rows([&] {
        const pid_t child = vfork();
        if (child == 0) {
            _exit(0);
        }
        siginfo_t info;
        REQUIRE(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED) == 0);
        REQUIRE(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED) < 0);
    });
    EXPECT_EQ(shown, lines(R"(
        vfork process =p2 target=p2
        waitid process =0 target=p2 {"which":"P_PID","upid":p2,"options":"WEXITED"}
        waitid process =ECHILD {"which":"P_PID","upid":p2,"options":"WEXITED"}
        p2 exit_group process unfinished {"error_code":0}
    )"));
}

TEST_F(Process, a_signal_names_whom_it_was_sent_to) {
    const std::string shown = rows([&] {
        const pid_t self = getpid();
        signal(SIGUSR1, SIG_IGN);
        REQUIRE(kill(self, SIGUSR1) == 0);
        REQUIRE(kill(self, 0) == 0);
        REQUIRE(kill(self, 99) < 0);
        REQUIRE(syscall(SYS_tkill, self, SIGUSR1) == 0);
        REQUIRE(syscall(SYS_tgkill, self, self, SIGUSR1) == 0);
        REQUIRE(syscall(SYS_pidfd_open, self, 0) == 3);
        REQUIRE(syscall(SYS_pidfd_send_signal, 3, SIGUSR1, nullptr, 0) == 0);
    });
    EXPECT_EQ(shown, lines(R"(
        getpid other =p1
        rt_sigaction process =0 {"sig":"SIGUSR1","sigsetsize":8}
        kill process =0 target=p1 {"pid":p1,"sig":"SIGUSR1"}
        kill process =0 target=p1 {"pid":p1,"sig":0}
        kill process =EINVAL target=p1 {"pid":p1,"sig":99}
        tkill process =0 target=p1 {"pid":p1,"sig":"SIGUSR1"}
        tgkill process =0 target=p1 {"tgid":p1,"pid":p1,"sig":"SIGUSR1"}
        pidfd_open process =3 fd=3 #1 anonymous [pidfs] pidfd:[N] O_RDWR target=p1 {"pid":p1,"flags":"0"}
        pidfd_send_signal process =0 fd=3 #1 anonymous [pidfs] pidfd:[N] O_RDWR target=p1 {"sig":"SIGUSR1","flags":"0"}
    )"));
}

TEST_F(Process, small_questions_about_oneself) {
    const std::string shown = rows([&] {
        sigset_t none;
        sigemptyset(&none);
        REQUIRE(getpid() == syscall(SYS_gettid));
        REQUIRE(getppid() > 0);
        REQUIRE(getuid() + geteuid() + getgid() + getegid() == 0);
        REQUIRE(setgid(0) == 0);
        REQUIRE(setuid(0) == 0);
        REQUIRE(sigprocmask(SIG_SETMASK, &none, nullptr) == 0);
        REQUIRE(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) >= 0);
        REQUIRE(open("/dev/null", O_RDONLY) == 3);
        REQUIRE(syscall(SYS_setns, 3, CLONE_NEWNET) < 0);
        REQUIRE(syscall(SYS_unshare, CLONE_FILES) == 0);
    });
    EXPECT_EQ(shown, lines(R"(
        getpid other =p1
        gettid other =p1
        getppid other =tester
        getuid other =0
        geteuid other =0
        getgid other =0
        getegid other =0
        setgid process =0 {"gid":0}
        setuid process =0 {"uid":0}
        rt_sigprocmask process =0 {"how":"SIG_SETMASK","sigsetsize":8}
        prctl process =1 {"option":"PR_GET_DUMPABLE","arg3":0,"arg4":0,"arg5":0}
        openat file =3 fd=3 #1 character_device [devtmpfs] /dev/null "/dev/null" O_RDONLY {"dfd":"AT_FDCWD","flags":"O_RDONLY","mode":"000"}
        setns process =EINVAL fd=3 #1 character_device [devtmpfs] /dev/null O_RDONLY {"flags":"CLONE_NEWNET"}
        unshare process =0 {"unshare_flags":"CLONE_FILES"}
    )"));
}

TEST_F(Process, the_end_of_a_process_is_an_event) {
    const Trace trace = record([] { syscall(SYS_exit_group, 0); });
    const Event end = trace.only("exit_group");
    EXPECT_FALSE(end.finished());
    EXPECT_EQ(end.event_class(), schema::Class::kProcess);
    EXPECT_EQ(end.argument(0), 0);
    EXPECT_EQ(end.duration_ns(), std::nullopt);
    EXPECT_EQ(laws(end), "");
}

TEST_F(Process, a_killed_process_leaves_its_call_unfinished) {
    Shared<std::atomic<bool>> begun;  // before that it reads at its gate
    meanwhile_ = [&](pid_t child) {
        if (*begun && is_in_call(child, SYS_read)) {
            kill(child, SIGALRM);
        }
    };
    const std::string shown = rows(
        [&] {
            int ends[2];
            char byte;
            *begun = true;
            alarm(1000);
            REQUIRE(pipe(ends) == 0);
            REQUIRE(read(ends[0], &byte, 1) < 0);
        },
        SIGALRM);
    EXPECT_EQ(shown, lines(R"(
        alarm other =0 {"seconds":1000}
        pipe2 pipe =0 fd=3 #1 pipe [pipefs] pipe:[N] O_RDONLY => #1 pipe:[N] {"flags":"0"}
        read pipe =ERESTARTSYS fd=3 #1 pipe [pipefs] pipe:[N] O_RDONLY -/1 {"count":1}
    )"));
}

}  // namespace
}  // namespace dyetrace::test
