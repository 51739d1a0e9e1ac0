#include "base/spawn.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>

#include "base/fd.h"

namespace dyetrace::base {
namespace {

TEST(Spawn, the_program_has_none_of_our_descriptors_but_the_first_three) {
    const Fd ours(::open("/", O_RDONLY | O_DIRECTORY));  // not close-on-exec
    ASSERT_GE(ours.get(), 0);
    const Result<pid_t> child = spawn_in_background("/bin/sleep", {"sleep", "1000"});
    ASSERT_TRUE(child.ok()) << child.error().text();
    std::set<std::string> its;
    for (const auto& entry :
         std::filesystem::directory_iterator("/proc/" + std::to_string(child.value()) + "/fd")) {
        its.insert(entry.path().filename());
    }
    EXPECT_EQ(its.count(std::to_string(ours.get())), 0u);
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
