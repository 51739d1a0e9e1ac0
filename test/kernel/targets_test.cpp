// What calls on processes and names act on: exec's path, empty paths, duplicates, and the processes of wait and kill.
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "kernel/recorded.h"

namespace dyetrace::test {
namespace {

class Targets : public KernelTest {};

int pidfd_of(pid_t pid) {
    return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
}

// A child that ends at once with this status.
pid_t ending_child(int status) {
    const pid_t child = fork();
    if (child == 0) {
        _exit(status);
    }
    return child;
}

TEST_F(Targets, a_process_that_was_waited_for_is_the_target) {
    Shared<pid_t> first, second, gone;
    const Trace trace = record([&] {
        *first = ending_child(3);
        int status = 0;
        REQUIRE(waitpid(*first, &status, 0) == *first);
        *second = ending_child(4);
        siginfo_t info{};
        REQUIRE(waitid(P_ALL, 0, &info, WEXITED) == 0);
        REQUIRE(waitpid(-1, &status, 0) < 0);
        const pid_t stopped = fork();
        if (stopped == 0) {
            raise(SIGSTOP);
            _exit(0);
        }
        *gone = stopped;
        REQUIRE(waitpid(*gone, &status, WUNTRACED) == *gone);  // it still lives
        REQUIRE(waitpid(*gone, &status, WNOHANG) == 0);
        kill(*gone, SIGCONT);
        REQUIRE(waitpid(*gone, &status, 0) == *gone);
    });
    EXPECT_EQ(trace.nth("wait4", 0).result(), *first);
    EXPECT_EQ(trace.nth("wait4", 0).target_tid(), *first);
    EXPECT_GT(trace.nth("wait4", 0).raw().target_start_ns, 0u);
    EXPECT_LT(trace.nth("wait4", 0).raw().target_start_ns, trace.nth("wait4", 1).raw().start_ns);
    EXPECT_EQ(trace.only("waitid").target_tid(), *second);
    EXPECT_EQ(trace.nth("wait4", 1).error(), "ECHILD");
    EXPECT_EQ(trace.nth("wait4", 1).target_tid(), std::nullopt);
    EXPECT_EQ(trace.nth("wait4", 2).target_tid(), *gone);
    EXPECT_EQ(trace.nth("wait4", 3).target_tid(), std::nullopt);
    EXPECT_EQ(trace.nth("wait4", 4).target_tid(), *gone);
    EXPECT_EQ(trace.nth("wait4", 2).raw().target_start_ns,
              trace.nth("wait4", 4).raw().target_start_ns);
}

TEST_F(Targets, kill_and_pidfds_name_the_process) {
    Shared<pid_t> child;
    const Trace trace = record([&] {
        const pid_t pausing = fork();
        if (pausing == 0) {
            pause();
            _exit(0);
        }
        *child = pausing;
        const int pidfd = pidfd_of(*child);
        REQUIRE(pidfd >= 0);
        REQUIRE(syscall(SYS_pidfd_getfd, pidfd, STDERR_FILENO, 0) >= 0);
        REQUIRE(syscall(SYS_pidfd_send_signal, pidfd, 0, nullptr, 0) == 0);
        REQUIRE(kill(0, 0) == 0);
        REQUIRE(syscall(SYS_tgkill, *child, *child, 0) == 0);
        REQUIRE(kill(*child, SIGKILL) == 0);
        REQUIRE(waitpid(*child, nullptr, 0) == *child);
        REQUIRE(kill(*child, 0) < 0);
    });
    EXPECT_EQ(trace.only("pidfd_open").target_tid(), *child);
    const Event copied = trace.only("pidfd_getfd");
    EXPECT_EQ(copied.target_tid(), *child);
    EXPECT_EQ(copied.fd(), copied.result());
    ASSERT_NE(copied.object(), nullptr);
    EXPECT_NE(copied.object_id(), trace.only("pidfd_send_signal").object_id());
    EXPECT_EQ(trace.only("pidfd_send_signal").target_tid(), *child);
    EXPECT_EQ(trace.nth("kill", 0).target_tid(), std::nullopt);  // a group
    EXPECT_EQ(trace.only("tgkill").target_tid(), *child);
    EXPECT_EQ(trace.nth("kill", 1).target_tid(), *child);
    EXPECT_EQ(trace.nth("kill", 1).raw().target_start_ns,
              trace.only("wait4").raw().target_start_ns);
    EXPECT_EQ(trace.nth("kill", 2).error(), "ESRCH");
    EXPECT_EQ(trace.nth("kill", 2).target_tid(), std::nullopt);
}

TEST_F(Targets, exec_keeps_the_path_that_it_was_given) {
    const std::string folder = at("bin");
    ASSERT_EQ(mkdir(folder.c_str(), 0755), 0);
    ASSERT_EQ(symlink("/bin/true", (folder + "/alias").c_str()), 0);
    const Trace trace = record([&] {
        const auto run = [](auto exec) {
            const pid_t child = vfork();
            if (child == 0) {
                exec();
                _exit(9);
            }
            int status = 0;
            REQUIRE(waitpid(child, &status, 0) == child && status == 0);
        };
        char name[] = "true";
        char* const arguments[] = {name, nullptr};
        run([&] { execve((folder + "/alias").c_str(), arguments, nullptr); });
        REQUIRE(chdir(folder.c_str()) == 0);
        run([&] { execve("alias", arguments, nullptr); });
        const int directory = open(folder.c_str(), O_DIRECTORY | O_CLOEXEC);
        run([&] { syscall(SYS_execveat, directory, "alias", arguments, nullptr, 0); });
        const int program = open("/bin/true", O_RDONLY | O_CLOEXEC);
        run([&] { syscall(SYS_execveat, program, "", arguments, nullptr, AT_EMPTY_PATH); });
        REQUIRE(execve("./missing", arguments, nullptr) < 0);
        std::thread([&] { run([&] { execve("./alias", arguments, nullptr); }); }).join();
    });
    const Event absolute = trace.nth("execve", 0);
    EXPECT_EQ(absolute.result(), 0);
    EXPECT_EQ(absolute.argument_path(), folder + "/alias");
    EXPECT_EQ(absolute.path(), folder + "/alias");
    const Event relative = trace.nth("execve", 1);
    EXPECT_EQ(relative.argument_path(), "alias");
    EXPECT_EQ(relative.path(), folder + "/alias");
    const Event at_directory = trace.nth("execveat", 0);
    EXPECT_EQ(at_directory.argument_path(), "alias");
    EXPECT_EQ(at_directory.path(), folder + "/alias");
    const Event of_descriptor = trace.nth("execveat", 1);
    EXPECT_EQ(of_descriptor.argument_path(), "");
    ASSERT_NE(of_descriptor.object(), nullptr);
    for (const Event& open : trace.all("openat")) {
        if (open.argument_path() == "/bin/true") {
            EXPECT_EQ(of_descriptor.object_id(), open.object_id());
        }
    }
    EXPECT_EQ(of_descriptor.object()->object_type, schema::ObjectType::kFile);
    EXPECT_EQ(trace.nth("execve", 2).error(), "ENOENT");
    EXPECT_EQ(trace.nth("execve", 2).argument_path(), "./missing");
    EXPECT_EQ(trace.nth("execve", 3).argument_path(), "./alias");
    EXPECT_EQ(trace.nth("execve", 3).result(), 0);
}

TEST_F(Targets, a_thread_that_execs_becomes_the_process) {
    const Trace trace = record([&] {
        std::thread([] {
            char name[] = "true";
            char* const arguments[] = {name, nullptr};
            execve("/bin/true", arguments, nullptr);
            _exit(9);
        }).join();
    });
    const Event exec = trace.only("execve");
    EXPECT_EQ(exec.result(), 0);
    EXPECT_EQ(exec.argument_path(), "/bin/true");
    ASSERT_NE(exec.task(), nullptr);
    EXPECT_EQ(exec.task()->tid, exec.task()->pid);
    EXPECT_EQ(exec.task()->comm, "true");
}

TEST_F(Targets, an_empty_path_is_the_descriptor_itself) {
    const std::string file = at("file");
    const Trace trace = record([&] {
        const int fd = open(file.c_str(), O_CREAT | O_RDWR, 0600);
        struct stat status {};
        REQUIRE(syscall(SYS_newfstatat, fd, "", &status, AT_EMPTY_PATH) == 0);
        REQUIRE(syscall(SYS_newfstatat, fd, "", &status, 0) < 0);
        REQUIRE(syscall(SYS_utimensat, fd, nullptr, nullptr, 0) == 0);
    });
    const std::uint64_t object = trace.only("openat").object_id();
    EXPECT_EQ(trace.nth("newfstatat", 0).object_id(), object);
    EXPECT_EQ(trace.nth("newfstatat", 0).path(), file);
    EXPECT_EQ(trace.nth("newfstatat", 0).argument_path(), "");
    EXPECT_EQ(trace.nth("newfstatat", 1).error(), "ENOENT");
    EXPECT_EQ(trace.nth("newfstatat", 1).object(), nullptr);
    EXPECT_EQ(trace.only("utimensat").object_id(), object);
    EXPECT_EQ(trace.only("utimensat").argument_path(), std::nullopt);
}

TEST_F(Targets, a_duplicate_names_the_object_twice) {
    const std::string file = at("file");
    const Trace trace = record([&] {
        const int fd = open(file.c_str(), O_CREAT | O_RDWR, 0600);
        REQUIRE(fcntl(fd, F_DUPFD, 700) == 700);
        REQUIRE(fcntl(fd, F_DUPFD_CLOEXEC, 701) == 701);
        REQUIRE(dup2(fd, 702) == 702);
        REQUIRE(dup(fd) >= 0);
        REQUIRE(fcntl(fd, F_GETFL) >= 0);
        REQUIRE(dup2(699, 703) < 0);
    });
    const std::uint64_t object = trace.only("openat").object_id();
    for (const Event& event :
         {trace.nth("fcntl", 0), trace.nth("fcntl", 1), trace.nth("dup2", 0), trace.only("dup")}) {
        EXPECT_EQ(event.fd(), event.result()) << event.name();
        EXPECT_EQ(event.object_id(), object) << event.name();
        EXPECT_EQ(event.object2_id(), object) << event.name();
        EXPECT_EQ(event.path2(), file) << event.name();
    }
    EXPECT_EQ(trace.nth("fcntl", 2).fd(), trace.only("openat").fd());
    EXPECT_EQ(trace.nth("fcntl", 2).object2(), nullptr);
    EXPECT_EQ(trace.nth("dup2", 1).error(), "EBADF");
    EXPECT_EQ(trace.nth("dup2", 1).fd(), 699);
}

}  // namespace
}  // namespace dyetrace::test
