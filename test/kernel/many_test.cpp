// Many threads, many processes, and what one of them is called, who it runs as and what it executes.
#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <set>

#include "kernel/rows.h"

namespace dyetrace::test {
namespace {

class Many : public RowsTest {
  protected:
    static pthread_t start(void* (*program)(void*)) {
        pthread_attr_t small;
        pthread_t thread;
        pthread_attr_init(&small);
        pthread_attr_setstacksize(&small, 64 * 1024);
        REQUIRE(pthread_create(&thread, &small, program, nullptr) == 0);
        pthread_attr_destroy(&small);
        return thread;
    }
};

TEST_F(Many, ten_thousand_threads) {
    constexpr int kWaves = 50, kThreads = 200;
    const Trace trace = record([&] {
        static std::array<pthread_t, kThreads> threads;
        for (int wave = 0; wave < kWaves; ++wave) {
            for (pthread_t& thread : threads) {
                thread = start([](void*) -> void* {
                    syscall(SYS_getppid);
                    return nullptr;
                });
            }
            for (const pthread_t thread : threads) {
                REQUIRE(pthread_join(thread, nullptr) == 0);
            }
        }
    });
    std::set<std::uint64_t> threads, processes;
    std::set<std::uint32_t> pids_in_namespace;
    for (const Event& event : trace.all("getppid")) {
        ASSERT_EQ(laws(event), "");
        pids_in_namespace.insert(event.task()->pid_in_namespace);
        threads.insert(event.task()->thread_id);
        processes.insert(event.task()->process_id);
    }
    EXPECT_EQ(trace.count("getppid"), std::size_t{kWaves} * kThreads);
    EXPECT_EQ(threads.size(), std::size_t{kWaves} * kThreads);
    EXPECT_EQ(processes.size(), 1u);
    EXPECT_EQ(pids_in_namespace.size(), 1u) << "of the process, not of its threads";
    // all but the first thread, which ends with the process
    EXPECT_EQ(trace.facts<schema::ThreadEnd>().size(), std::size_t{kWaves} * kThreads + 1);
}

TEST_F(Many, a_storm_of_forks) {
    constexpr int kWaves = 20, kProcesses = 100;
    const Trace trace = record([&] {
        for (int wave = 0; wave < kWaves; ++wave) {
            for (int i = 0; i < kProcesses; ++i) {
                const pid_t child = fork();
                REQUIRE(child >= 0);
                if (child == 0) {
                    syscall(SYS_getppid);
                    _exit(7);
                }
            }
            for (int i = 0; i < kProcesses; ++i) {
                int status = 0;
                REQUIRE(wait(&status) > 0 && WEXITSTATUS(status) == 7);
            }
        }
    });
    constexpr std::size_t kAll = std::size_t{kWaves} * kProcesses;
    std::set<std::uint64_t> processes;
    for (const Event& event : trace.all("getppid")) {
        ASSERT_EQ(laws(event), "");
        processes.insert(event.task()->process_id);
    }
    std::set<std::int64_t> targets;
    for (const Event& event : trace.all("clone")) {
        EXPECT_EQ(event.target_tid(), event.result());
        targets.insert(event.result());
    }
    EXPECT_EQ(processes.size(), kAll);
    EXPECT_EQ(trace.count("exit_group"), kAll + 1);
    EXPECT_EQ(trace.count("wait4"), kAll);
    EXPECT_GT(targets.size(), std::size_t{kProcesses});
}

TEST_F(Many, a_thread_is_called_what_it_calls_itself) {
    const Trace trace = record([&] {
        const pthread_t thread = start([](void*) -> void* {
            syscall(SYS_getppid);
            REQUIRE(prctl(PR_SET_NAME, "worker/1") == 0);
            syscall(SYS_getppid);
            return nullptr;
        });
        REQUIRE(pthread_join(thread, nullptr) == 0);
        syscall(SYS_getppid);
    });
    ASSERT_EQ(trace.count("getppid"), 3u);
    EXPECT_EQ(trace.nth("getppid", 0).task()->comm, "kernel_test");
    EXPECT_EQ(trace.nth("getppid", 1).task()->comm, "worker/1");
    EXPECT_EQ(trace.nth("getppid", 2).task()->comm, "kernel_test");
    EXPECT_EQ(trace.nth("getppid", 0).task()->thread_id, trace.nth("getppid", 1).task()->thread_id);
    EXPECT_EQ(trace.only("prctl").task()->comm, "worker/1");
}

TEST_F(Many, a_child_that_changes_its_user) {
    const Trace trace = record([&] {
        const pid_t child = fork();
        if (child == 0) {
            syscall(SYS_getppid);
            REQUIRE(setgid(65534) == 0);
            REQUIRE(setuid(65534) == 0);
            syscall(SYS_getppid);
            REQUIRE(open(at("none").c_str(), O_RDONLY) < 0);
            _exit(0);
        }
        REQUIRE(waitpid(child, nullptr, 0) == child);
    });
    EXPECT_EQ(trace.nth("getppid", 0).task()->uid, 0u);
    EXPECT_EQ(trace.nth("getppid", 1).task()->uid, 65534u);
    EXPECT_EQ(trace.nth("getppid", 1).task()->gid, 65534u);
    EXPECT_EQ(trace.only("wait4").task()->uid, 0u);
    EXPECT_EQ(trace.only("openat").error(), "EACCES");
}

TEST_F(Many, vfork_and_exec_from_a_thread) {
    const std::string file = make_file("data", "123");
    static std::string path;
    path = file;
    const Trace trace = record([&] {
        REQUIRE(open(path.c_str(), O_RDONLY) == 3);
        const pthread_t thread = start([](void*) -> void* {
            const pid_t child = vfork();
            if (child == 0) {
                // what it inherited is what it reads
                execl("/bin/sh", "sh", "-c", "read line <&3", nullptr);
                _exit(1);
            }
            REQUIRE(waitpid(child, nullptr, 0) == child);
            return nullptr;
        });
        REQUIRE(pthread_join(thread, nullptr) == 0);
    });
    const Event vfork = trace.only("vfork");
    const Event exec = trace.only("execve");
    EXPECT_EQ(exec.result(), 0);
    EXPECT_EQ(exec.task()->comm, "sh");
    EXPECT_EQ(exec.task()->pid, static_cast<std::uint32_t>(vfork.result()));
    EXPECT_EQ(vfork.target_tid(), vfork.result());
    EXPECT_NE(vfork.task()->tid, vfork.task()->pid);
    EXPECT_EQ(exec.task()->ppid, vfork.task()->pid);
    bool inherited = false;
    for (const Event& read : trace.all("read")) {
        EXPECT_EQ(laws(read), "");
        if (read.path() == file) {
            inherited = true;
            EXPECT_EQ(read.object_id(), trace.first("openat").object_id());
            EXPECT_EQ(read.task()->comm, "sh");
            EXPECT_EQ(read.task()->process_id, exec.task()->process_id);
            EXPECT_TRUE(read.task()->exe.value_or("").ends_with("sh"));
        }
    }
    EXPECT_TRUE(inherited);
}

}  // namespace
}  // namespace dyetrace::test
