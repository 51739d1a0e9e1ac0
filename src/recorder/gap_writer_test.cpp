#include "recorder/gap_writer.h"

#include <gtest/gtest.h>

namespace dyetrace::recorder {
namespace {

class GapWriterTest : public testing::Test {
  protected:
    std::vector<schema::Gap> gaps_;
    FactWriter facts_{[this](std::span<const std::byte> record) -> Result<void> {
        gaps_.push_back(*schema::as<schema::Gap>(record));
        return {};
    }};
    GapWriter writer_{facts_, 2};
};

TEST_F(GapWriterTest, a_loss_is_told_once) {
    ASSERT_TRUE(writer_.write_losses(1, {.lost = 5, .last_lost_ns = 90}, 70).ok());
    ASSERT_TRUE(writer_.write_losses(1, {.lost = 5, .last_lost_ns = 90}, 90).ok());
    ASSERT_TRUE(writer_.write_losses(1, {.lost = 8, .last_lost_ns = 120}, 100).ok());
    ASSERT_EQ(gaps_.size(), 2u);
    EXPECT_EQ(gaps_[0].cpu, 1u);
    EXPECT_EQ(gaps_[0].begin_ns, 70u);
    EXPECT_EQ(gaps_[0].end_ns, 90u);
    EXPECT_EQ(gaps_[0].lost, 5u);
    EXPECT_EQ(gaps_[1].lost, 3u);
}

TEST_F(GapWriterTest, calls_for_which_no_program_ran_are_no_loss_of_the_rings) {
    const capture::Accounting ended{.lost = 12, .not_run = 10, .last_lost_ns = 90};
    ASSERT_TRUE(writer_.write_losses(0, ended, 70).ok());
    ASSERT_TRUE(writer_.write_not_run(ended, 1).ok());
    ASSERT_EQ(gaps_.size(), 2u);
    EXPECT_EQ(gaps_[0].lost, 2u);
    EXPECT_EQ(gaps_[0].reason, static_cast<std::uint8_t>(schema::GapReason::kRingFull));
    EXPECT_EQ(gaps_[1].lost, 10u);
    EXPECT_EQ(gaps_[1].reason, static_cast<std::uint8_t>(schema::GapReason::kProgramNotRun));
    EXPECT_EQ(gaps_[1].begin_ns, 1u);
}

TEST_F(GapWriterTest, an_early_end_has_all_that_no_other_gap_has) {
    const capture::Accounting ended{.lost = 100, .not_run = 10};
    ASSERT_TRUE(writer_.write_losses(0, {.lost = 20}, 70).ok());
    ASSERT_TRUE(writer_.write_not_run(ended, 1).ok());
    ASSERT_TRUE(writer_.write_early_end(Error(ErrorCode::kIo, "the disk"), ended, 80).ok());
    ASSERT_EQ(gaps_.size(), 3u);
    EXPECT_EQ(gaps_[2].lost, 70u);
    EXPECT_EQ(gaps_[2].reason, static_cast<std::uint8_t>(schema::GapReason::kDiskError));
}

}  // namespace
}  // namespace dyetrace::recorder
