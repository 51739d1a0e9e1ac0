#include "base/spawn.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "base/fd.h"

namespace dyetrace::base {
namespace {

TEST(Spawn, the_program_has_none_of_our_descriptors_but_the_first_three) {
    const Fd ours(memfd_create("ours", 0));  // not close-on-exec
    ASSERT_GE(ours.get(), 0);
    const Result<pid_t> child = spawn_in_background("/bin/sleep", {"sleep", "1000"});
    ASSERT_TRUE(child.ok()) << child.error().text();
    // its loader opens files of its own, and closes them
    for (const auto& entry :
         std::filesystem::directory_iterator("/proc/" + std::to_string(child.value()) + "/fd")) {
        std::error_code is_closed;
        EXPECT_EQ(
            std::filesystem::read_symlink(entry.path(), is_closed).string().find("memfd:ours"),
            std::string::npos);
    }
    kill(child.value(), SIGKILL);
    waitpid(child.value(), nullptr, 0);
}

TEST(Spawn, says_which_program_cannot_be_started) {
    const Result<pid_t> child = spawn_in_background("/nowhere/at/all", {"all"});
    ASSERT_FALSE(child.ok());
    EXPECT_NE(child.error().text().find("/nowhere/at/all"), std::string::npos);
}

// A process that ends with `end`, and its child, which writes its number to `out` and stays.
pid_t start_parent(Pipe& out, Pipe& end) {
    const pid_t parent = ::fork();
    if (parent != 0) {
        return parent;
    }
    end.write.reset();
    if (const pid_t child = ::fork(); child != 0) {
        char byte = 0;
        (void)!::read(end.read.get(), &byte, 1);
        ::_exit(0);
    }
    ::dup2(out.write.get(), STDOUT_FILENO);
    out.write.reset();
    let_go_when_alone();
    const pid_t self = ::getpid();
    (void)!::write(STDOUT_FILENO, &self, sizeof(self));
    for (;;) {
        ::pause();
    }
}

TEST(Spawn, who_is_left_alone_lets_go_of_what_others_read) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    Pipe out = make_pipe().value(), end = make_pipe().value();
    const pid_t parent = start_parent(out, end);
    out.write.reset();
    pid_t child = 0;
    ASSERT_EQ(::read(out.read.get(), &child, sizeof(child)), ssize_t{sizeof(child)});
    end.write.reset();
    ::waitpid(parent, nullptr, 0);
    char byte = 0;
    EXPECT_EQ(::read(out.read.get(), &byte, 1), 0) << "the end of it";
    EXPECT_EQ(::waitpid(child, nullptr, WNOHANG), 0) << "it goes on";
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace
}  // namespace dyetrace::base
