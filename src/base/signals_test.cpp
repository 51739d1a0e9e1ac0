#include "base/signals.h"

#include <gtest/gtest.h>
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

}  // namespace
}  // namespace dyetrace::base
