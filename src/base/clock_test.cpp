#include "base/clock.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace dyetrace::base {
namespace {

constexpr HostClock kFirstHost{.host = 1}, kSecondHost{.host = 2};

template <class Left, class Right>
concept Comparable = requires(Left left, Right right) {
    left < right;
};
static_assert(Comparable<Instant<HostClock>, Instant<HostClock>>);
static_assert(!Comparable<Instant<HostClock>, Instant<ClusterClock>>);
static_assert(sizeof(Instant<ClusterClock>) == sizeof(int64_t));

TEST(Instant, adds_and_subtracts_durations) {
    const Instant<HostClock> begin(kFirstHost, 1'000);
    const Instant<HostClock> end = begin + 250;
    EXPECT_EQ(end - begin, 250);
    EXPECT_EQ(end - 250, begin);
    EXPECT_LT(begin, end);
    EXPECT_EQ(end.clock(), kFirstHost);
}

#ifndef NDEBUG
TEST(InstantDeathTest, of_two_hosts_neither_compare_nor_subtract) {
    const Instant<HostClock> here(kFirstHost, 1'000), there(kSecondHost, 1'000);
    EXPECT_DEATH((void)(here < there), "times of two hosts do not compare");
    EXPECT_DEATH((void)(here - there), "times of two hosts do not subtract");
}
#endif

TEST(Clock, does_not_run_backwards) {
    const int64_t monotonic_ns = monotonic_time_ns();
    const int64_t boot_ns = boot_time_ns();
    EXPECT_GE(boot_ns, monotonic_ns) << "boot time also counts sleep";
    EXPECT_GE(boot_time_ns(), boot_ns);
    EXPECT_GE(monotonic_time_ns(), monotonic_ns);
}

TEST(Clock, a_snapshot_lies_between_the_readings_around_it) {
    const int64_t before_ns = boot_time_ns();
    const ClockSnapshot snapshot = read_clock_snapshot();
    const int64_t after_ns = boot_time_ns();
    EXPECT_LE(before_ns, snapshot.boot_ns);
    EXPECT_LE(snapshot.boot_ns, after_ns);
    EXPECT_GE(snapshot.uncertainty_ns, 0);
    EXPECT_LE(snapshot.uncertainty_ns, after_ns - before_ns);
}

}  // namespace
}  // namespace dyetrace::base
