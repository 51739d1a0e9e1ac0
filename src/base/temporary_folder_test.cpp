#include "base/temporary_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>

#include "base/file.h"

namespace dyetrace::base {
namespace {

// Before any folder is made: who starts the tests in the background ignores some of them.
const bool signals_end_us = [] {
    for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM}) {
        std::signal(number, SIG_DFL);
    }
    return true;
}();

// A folder of this test's own, in which others make theirs.
class TemporaryFolderTest : public testing::Test {
  protected:
    TemporaryFolderTest() { setenv("TMPDIR", parent_.path().c_str(), 1); }
    ~TemporaryFolderTest() override { unsetenv("TMPDIR"); }

    bool nothing_is_left() const { return std::filesystem::is_empty(parent_.path()); }

    // Returns what waitpid() says of a child that has a folder with a file, and one with a file in it, and runs `then`.
    template <typename Then>
    static int status_of_child(Then then) {
        const pid_t child = fork();
        if (child == 0) {
            const TemporaryFolder folder =
                TemporaryFolder::make(TemporaryFolder::free_path()).value();
            std::filesystem::create_directory(folder.path() + "/spilled");
            write_file_atomically(folder.path() + "/a", "blue dye").value();
            write_file_atomically(folder.path() + "/spilled/b", "red dye").value();
            then();
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        return status;
    }

  private:
    const TemporaryFolder parent_ = TemporaryFolder::make().value();
};

TEST_F(TemporaryFolderTest, goes_with_its_owner) {
    {
        const TemporaryFolder folder = TemporaryFolder::make().value();
        write_file_atomically(folder.path() + "/a", "blue dye").value();
        EXPECT_FALSE(nothing_is_left());
    }
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(TemporaryFolderTest, of_somebody_else_stays) {
    const TemporaryFolder folder = TemporaryFolder::make(TemporaryFolder::free_path()).value();
    EXPECT_FALSE(TemporaryFolder::make(folder.path()).ok());
    EXPECT_TRUE(std::filesystem::exists(folder.path()));
}

TEST_F(TemporaryFolderTest, goes_when_a_signal_ends_the_program) {
    ASSERT_TRUE(signals_end_us);
    for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM}) {
        const int status = status_of_child([number] { raise(number); });
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == number) << status;
        EXPECT_TRUE(nothing_is_left()) << number;
    }
}

TEST_F(TemporaryFolderTest, of_who_was_killed_goes_when_the_next_one_comes) {
    const TemporaryFolder alive = TemporaryFolder::make().value();
    const int status = status_of_child([] { raise(SIGKILL); });
    EXPECT_TRUE(WIFSIGNALED(status)) << status;
    const std::string parent = std::getenv("TMPDIR"),
                      unlocked = parent + "/dyetrace-0123456789abcdef";
    std::filesystem::create_directory(unlocked);
    const auto folders = [&] {
        const std::filesystem::directory_iterator all(parent);
        return std::distance(begin(all), end(all));
    };
    EXPECT_EQ(folders(), 3);
    TemporaryFolder::free_path();
    EXPECT_EQ(folders(), 2) << "one of who lives, and one that nobody ever locked";
    EXPECT_TRUE(std::filesystem::exists(alive.path()));
    EXPECT_TRUE(std::filesystem::remove(unlocked));
}

TEST_F(TemporaryFolderTest, stays_while_a_child_of_its_owner_ends) {
    const int status = status_of_child([] {
        const pid_t child = fork();
        if (child == 0) {
            raise(SIGTERM);
        }
        int ended = 0;
        waitpid(child, &ended, 0);
        const bool is_there = !std::filesystem::is_empty(std::getenv("TMPDIR"));
        _exit(WIFSIGNALED(ended) && is_there ? 7 : 1);
    });
    EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST_F(TemporaryFolderTest, leaves_the_signals_that_its_program_handles_to_it) {
    const auto before = std::signal(SIGHUP, SIG_IGN);
    const int status = status_of_child([] {
        raise(SIGHUP);
        _exit(9);
    });
    std::signal(SIGHUP, before);
    EXPECT_EQ(WEXITSTATUS(status), 9);
}

}  // namespace
}  // namespace dyetrace::base
