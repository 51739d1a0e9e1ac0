#include "recorder/test_clock.h"

#include <gtest/gtest.h>

#include "schema/record.h"

namespace dyetrace::recorder {
namespace {

template <typename Record>
Record after(TestClock& clock, Record record) {
    record.header.size = sizeof(Record);
    record.header.type = Record::kId;
    const auto changed = clock.apply(std::as_bytes(std::span(&record, 1)));
    return *schema::as<Record>(changed);
}

constexpr std::uint64_t kSecond = 1'000'000'000;

TEST(TestClock, is_ahead_drifts_and_steps) {
    const TestClock clock =
        TestClock::parse("offset=-1.5s,drift=100ppm,zero=10000000000,step=2s@20000000000").value();
    EXPECT_EQ(clock.at(10 * kSecond), 8'500'000'000u);
    EXPECT_EQ(clock.at(11 * kSecond), 9'500'100'000u);
    EXPECT_EQ(clock.at(20 * kSecond), 18'501'000'000u + 2 * kSecond);
    EXPECT_EQ(clock.at(0), 1u) << "a clock of a kernel does not go below zero";
}

TEST(TestClock, changes_all_times_of_a_record) {
    TestClock clock = TestClock::parse("offset=3s,drift=1000ppm,zero=10000000000").value();
    schema::SyscallEvent event{};
    event.start_ns = 11 * kSecond;
    event.duration_ns = kSecond;
    event.off_cpu_ns = kSecond / 2;
    const auto changed = after(clock, event);
    EXPECT_EQ(changed.start_ns, 14 * kSecond + 1'000'000);
    EXPECT_EQ(changed.duration_ns, kSecond + 1'000'000);
    EXPECT_EQ(changed.off_cpu_ns, kSecond / 2 + 500'000);
    EXPECT_EQ(changed.target_start_ns, 0u) << "there is no target";

    schema::ClockSnapshot snapshot{};
    snapshot.boot_ns = 10 * kSecond;
    snapshot.wall_ns = 1'700'000'000 * static_cast<std::int64_t>(kSecond);
    snapshot.error_ns = 7;
    EXPECT_EQ(after(clock, snapshot).boot_ns, 13 * kSecond);
    EXPECT_EQ(after(clock, snapshot).wall_ns - snapshot.wall_ns,
              3 * static_cast<std::int64_t>(kSecond));
    EXPECT_EQ(after(clock, snapshot).error_ns, 7u);

    schema::Gap gap{};
    gap.begin_ns = 10 * kSecond;
    gap.end_ns = UINT64_MAX;
    EXPECT_EQ(after(clock, gap).begin_ns, 13 * kSecond);
    EXPECT_EQ(after(clock, gap).end_ns, UINT64_MAX) << "it has no end";
}

TEST(TestClock, refuses_what_it_does_not_know) {
    for (const char* text :
         {"offset=1", "drift=1s", "step=1s", "step=1s@", "zero=-1", "x", "=", "offset=s"}) {
        EXPECT_EQ(TestClock::parse(text).error().code(), ErrorCode::kInvalidArgument) << text;
    }
    EXPECT_TRUE(TestClock::parse("").ok());
}

}  // namespace
}  // namespace dyetrace::recorder
