#include "transport/own_limits.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace dyetrace::transport {
namespace {

constexpr std::int64_t kS = 1'000'000'000;

TEST(TokenBucket, gives_a_second_at_once_and_then_what_time_brings) {
    TokenBucket bucket(100);
    EXPECT_TRUE(bucket.has_some(kS));
    bucket.take(150);
    EXPECT_FALSE(bucket.has_some(kS));
    EXPECT_FALSE(bucket.has_some(kS + kS / 2)) << "the debt of 50 is paid, no more";
    EXPECT_TRUE(bucket.has_some(2 * kS));
}

TEST(TokenBucket, a_pause_is_worth_a_second_at_most) {
    TokenBucket bucket(100);
    EXPECT_TRUE(bucket.has_some(kS));
    EXPECT_TRUE(bucket.has_some(1000 * kS));
    bucket.take(100);
    EXPECT_FALSE(bucket.has_some(1000 * kS));
}

TEST(TokenBucket, zero_is_no_limit) {
    TokenBucket bucket(0);
    bucket.take(1e12);
    EXPECT_TRUE(bucket.has_some(1));
}

TEST(OwnLimits, say_once_a_minute_which_one_binds) {
    OwnLimits limits({.bandwidth_bytes_max = 1000, .cpu_percent_max = 0, .memory_bytes_max = 0});
    EXPECT_TRUE(limits.may_ship(kS));
    EXPECT_FALSE(limits.news(kS));
    limits.shipped(5000);
    EXPECT_FALSE(limits.may_ship(kS));
    EXPECT_NE(limits.news(kS).value_or("").find("--bandwidth-max 1"), std::string::npos);
    EXPECT_FALSE(limits.may_ship(2 * kS));
    EXPECT_FALSE(limits.news(2 * kS));
    limits.shipped(500'000);
    EXPECT_FALSE(limits.may_ship(62 * kS));
    EXPECT_TRUE(limits.news(62 * kS));
}

TEST(OwnLimits, weigh_this_process_and_its_recorders) {
    OwnLimits small({.bandwidth_bytes_max = 0, .cpu_percent_max = 0, .memory_bytes_max = 1});
    const auto alone = small.too_much_memory(2 * kS, {});
    ASSERT_TRUE(alone);
    EXPECT_FALSE(small.too_much_memory(2 * kS + 1, {})) << "once a second";
    EXPECT_GT(small.too_much_memory(4 * kS, {::getpid()}).value_or(0), *alone * 3 / 2);
    OwnLimits large(
        {.bandwidth_bytes_max = 0, .cpu_percent_max = 0, .memory_bytes_max = 1ull << 50});
    EXPECT_FALSE(large.too_much_memory(2 * kS, {}));
}

}  // namespace
}  // namespace dyetrace::transport
