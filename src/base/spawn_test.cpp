#include "base/spawn.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
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

}  // namespace
}  // namespace dyetrace::base
