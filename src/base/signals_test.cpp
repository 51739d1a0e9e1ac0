#include "base/signals.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

namespace dyetrace::base {
namespace {

// The mask as it was: what is taken here must not be taken from other tests.
class SignalsTest : public testing::Test {
  protected:
    SignalsTest() { sigprocmask(SIG_SETMASK, nullptr, &mask_); }
    ~SignalsTest() override { sigprocmask(SIG_SETMASK, &mask_, nullptr); }

  private:
    sigset_t mask_{};
};

TEST_F(SignalsTest, wait_until_they_are_read_each_with_its_number) {
    const Fd signals = take_signals({SIGUSR1, SIGUSR2});
    raise(SIGUSR2);
    signalfd_siginfo info{};
    ASSERT_EQ(read(signals.get(), &info, sizeof(info)), static_cast<ssize_t>(sizeof(info)));
    EXPECT_EQ(info.ssi_signo, static_cast<std::uint32_t>(SIGUSR2));
    EXPECT_EQ(read(signals.get(), &info, sizeof(info)), -1);
    EXPECT_EQ(errno, EAGAIN);
}

TEST_F(SignalsTest, ask_to_end_once_each) {
    const Fd signals = take_ending_signals();
    EXPECT_FALSE(was_asked_to_end(signals));
    raise(SIGTERM);
    EXPECT_TRUE(was_asked_to_end(signals));
    EXPECT_FALSE(was_asked_to_end(signals));
}

// In a process of its own, as a limit of this one would be every test's.
[[noreturn]] void write_beyond_the_limit() {
    outlive_file_size_limit();
    const rlimit nothing{0, 0};
    setrlimit(RLIMIT_FSIZE, &nothing);
    const Fd file(memfd_create("file", MFD_CLOEXEC));
    const bool is_error = write(file.get(), "x", 1) == -1 && errno == EFBIG;
    struct sigaction action {};
    sigaction(SIGXFSZ, nullptr, &action);
    _exit(is_error && action.sa_handler != SIG_IGN ? 0 : 1);
}

TEST(SignalsDeathTest, a_file_that_may_grow_no_more_is_an_error_of_write) {
    EXPECT_EXIT(write_beyond_the_limit(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace dyetrace::base
