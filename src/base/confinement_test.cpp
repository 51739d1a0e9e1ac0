#include "base/confinement.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <linux/landlock.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

#include "base/file.h"
#include "base/temporary_folder.h"

namespace dyetrace::base {
namespace {

// What a process that gave this up answers, 0 to 255; 255: it could not give it up.
int in_confinement(const Confinement& confinement, const std::function<int()>& look) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::_exit(confine(confinement).ok() ? look() : 255);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 254;
}

int error_of_opening(const std::string& path, int flags) {
    const Fd file(::open(path.c_str(), flags | O_CLOEXEC, 0600));
    return file.valid() ? 0 : errno;
}

bool has_landlock() {
    return ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0;
}

class ConfinementTest : public testing::Test {
  protected:
    void SetUp() override { write_file_atomically(folder_.path() + "/there", "x").value(); }

    const TemporaryFolder folder_ = TemporaryFolder::make().value();
    const TemporaryFolder other_ = TemporaryFolder::make().value();
};

TEST_F(ConfinementTest, leaves_no_capability) {
    EXPECT_EQ(in_confinement(
                  {},
                  [] {
                      const std::string status = read_file("/proc/self/status", 1 << 16).value();
                      const bool has_none =
                          status.find("CapEff:\t0000000000000000") != status.npos &&
                          status.find("CapPrm:\t0000000000000000") != status.npos;
                      return has_none && status.find("NoNewPrivs:\t1") != status.npos ? 0 : 1;
                  }),
              0);
}

TEST_F(ConfinementTest, refuses_what_nobody_needs) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "system calls stay as they are under AddressSanitizer";
#endif
    const auto error = [](const Confinement& confinement, const std::function<long()>& call) {
        return in_confinement(confinement, [&] { return call() < 0 ? errno : 0; });
    };
    const auto trace_me = [] { return ::syscall(SYS_ptrace, 0 /* PTRACE_TRACEME */, 0, 0, 0); };
    const auto make_socket = [] { return long{::socket(AF_UNIX, SOCK_STREAM, 0)}; };
    const auto run = [] { return long{::execl("/bin/true", "true", nullptr)}; };
    const auto bpf = [](int command) {
        return [command] {
            bpf_attr nothing{};
            return ::syscall(SYS_bpf, command, &nothing, sizeof(nothing));
        };
    };
    EXPECT_EQ(error({}, trace_me), EPERM);
    EXPECT_EQ(error({}, make_socket), EPERM);
    EXPECT_EQ(error({.may_use_network = true}, make_socket), 0);
    EXPECT_EQ(error({}, run), EPERM);
    EXPECT_EQ(error({.may_start_programs = true}, run), 0);
    EXPECT_EQ(error({}, bpf(BPF_MAP_LOOKUP_ELEM)), EPERM);
    const Confinement loaded{.may_use_loaded_bpf = true};
    EXPECT_EQ(error(loaded, bpf(BPF_MAP_CREATE)), EPERM);
    EXPECT_EQ(error(loaded, bpf(BPF_PROG_LOAD)), EPERM);
    EXPECT_NE(error(loaded, bpf(BPF_MAP_LOOKUP_ELEM)), EPERM);
    EXPECT_EQ(error(loaded, trace_me), EPERM);
    EXPECT_EQ(error(loaded, [] { return long{::getpid()}; }), 0);
#if defined(__x86_64__)
    EXPECT_EQ(error({}, [] { return ::syscall(0x40000000 | SYS_getpid); }), EPERM);
#endif
}

TEST_F(ConfinementTest, writes_where_it_may_and_nowhere_else) {
    if (!has_landlock()) {
        GTEST_SKIP() << "this kernel has no Landlock";
    }
    const Confinement confinement{.files = FileAccess{.writable = {folder_.path(), "/not there"}}};
    const auto error = [&](const std::string& path, int flags) {
        return in_confinement(confinement, [&] { return error_of_opening(path, flags); });
    };
    EXPECT_EQ(error(folder_.path() + "/new", O_WRONLY | O_CREAT), 0);
    EXPECT_EQ(error(folder_.path() + "/there", O_RDWR | O_TRUNC), 0);
    EXPECT_EQ(error(other_.path() + "/new", O_WRONLY | O_CREAT), EACCES);
    EXPECT_EQ(error("/dev/null", O_WRONLY), 0);
    EXPECT_EQ(error("/etc/passwd", O_RDONLY), 0);
    EXPECT_EQ(error("/etc/passwd", O_WRONLY), EACCES);
}

TEST_F(ConfinementTest, reads_what_it_may_by_whatever_name) {
    if (!has_landlock()) {
        GTEST_SKIP() << "this kernel has no Landlock";
    }
    const std::string link = folder_.path() + "/link";
    ASSERT_EQ(::symlink("/etc/passwd", link.c_str()), 0);
    const Confinement confinement{
        .files = FileAccess{.writable = {}, .readable = std::vector<std::string>{folder_.path()}}};
    const auto error = [&](const std::string& path) {
        return in_confinement(confinement, [&] { return error_of_opening(path, O_RDONLY); });
    };
    EXPECT_EQ(error(folder_.path() + "/there"), 0);
    EXPECT_EQ(error("/etc/passwd"), EACCES);
    EXPECT_EQ(error(link), EACCES);
}

}  // namespace
}  // namespace dyetrace::base
