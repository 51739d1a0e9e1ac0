#include "capture/accounting.h"

#include <gtest/gtest.h>

namespace dyetrace::capture {
namespace {

TEST(Accounting, closes_after_each_stage_that_passes_on_less) {
    Accounting accounting{.generated = 100, .filtered = 20, .delivered = 70, .lost = 10};
    ASSERT_TRUE(accounting.closes());
    accounting.leave_out(30);
    EXPECT_TRUE(accounting.closes());
    EXPECT_EQ(accounting.filtered, 50u);
    EXPECT_EQ(accounting.delivered, 40u);
    accounting.lose(5);
    EXPECT_TRUE(accounting.closes());
    EXPECT_EQ(accounting.lost, 15u);
    EXPECT_EQ(accounting.unwritten, 0u);
    accounting.fail_to_write(35);
    EXPECT_TRUE(accounting.closes());
    EXPECT_EQ(accounting.delivered, 0u);
    EXPECT_EQ(accounting.lost, 50u);
    EXPECT_EQ(accounting.unwritten, 35u);
}

TEST(Accounting, adds_up_sources_and_knows_the_last_of_their_losses) {
    Accounting sum{.generated = 3, .delivered = 2, .lost = 1, .last_lost_ns = 900};
    sum += {.generated = 4,
            .aggregated = 3,
            .lost = 1,
            .not_run = 1,
            .facts_lost = 5,
            .last_lost_ns = 800};
    EXPECT_TRUE(sum.closes());
    EXPECT_EQ(sum.not_run, 1u);
    EXPECT_EQ(sum.lost_by_rings(), 1u);
    EXPECT_EQ(sum.generated, 7u);
    EXPECT_EQ(sum.facts_lost, 5u);
    EXPECT_EQ(sum.last_lost_ns, 900u);
}

TEST(Accounting, that_misses_an_event_does_not_close) {
    EXPECT_FALSE((Accounting{.generated = 3, .delivered = 2}.closes()));
}

}  // namespace
}  // namespace dyetrace::capture
