#include "base/fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace dyetrace::base {
namespace {

Fd open_null() {
    return Fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
}

bool is_open(int number) {
    return ::fcntl(number, F_GETFD) != -1;
}

TEST(Fd, as_many_as_the_hard_limit_allows) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    rlimit few = before;
    few.rlim_cur = std::min<rlim_t>(before.rlim_max, 64);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    allow_all_descriptors();
    rlimit after{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &after), 0);
    EXPECT_EQ(after.rlim_cur, before.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST(Fd, closes_in_its_destructor) {
    int number = -1;
    {
        const Fd fd = open_null();
        number = fd.get();
        EXPECT_TRUE(is_open(number));
    }
    EXPECT_FALSE(is_open(number));
}

TEST(Fd, is_empty_after_a_move) {
    Fd first = open_null();
    const int number = first.get();
    Fd second = std::move(first);
    EXPECT_FALSE(first.valid());
    EXPECT_EQ(second.get(), number);
}

TEST(Fd, closes_the_old_one_when_assigned) {
    Fd fd = open_null();
    const int old_number = fd.get();
    Fd other = open_null();
    fd = std::move(other);
    EXPECT_FALSE(is_open(old_number));
    EXPECT_TRUE(is_open(fd.get()));
}

TEST(Fd, gives_away_what_it_releases) {
    Fd fd = open_null();
    const Fd owner(fd.release());
    EXPECT_FALSE(fd.valid());
    EXPECT_TRUE(is_open(owner.get()));
}

TEST(Fd, reports_a_close_that_fails) {
    Fd fd = open_null();
    ::close(fd.get());
    EXPECT_EQ(fd.close().error().text(), "closing a file: Bad file descriptor (EBADF)");
    EXPECT_TRUE(fd.close().ok()) << "an empty one has nothing to close";
}

// Without stdin and stdout, as `dyetrace <&- >&-` is started.
[[noreturn]] void hold_what_is_closed() {
    ::close(STDIN_FILENO);
    ::close(STDOUT_FILENO);
    hold_standard_descriptors();
    char byte = 0;
    const bool is_held = open_null().get() > STDERR_FILENO;
    const bool fails = ::read(STDIN_FILENO, &byte, 1) == -1 && errno == EBADF &&
                       ::write(STDOUT_FILENO, &byte, 1) == -1 && errno == EBADF;
    const bool is_ours =
        ::fcntl(STDOUT_FILENO, F_GETFD) == FD_CLOEXEC && ::fcntl(STDERR_FILENO, F_GETFD) == 0;
    ::_exit(is_held && fails && is_ours ? 0 : 1);
}

TEST(FdDeathTest, no_file_gets_the_number_of_a_standard_one_that_is_closed) {
    EXPECT_EXIT(hold_what_is_closed(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace dyetrace::base
