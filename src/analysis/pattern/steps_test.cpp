#include "analysis/pattern/steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace dyetrace::analysis {
namespace {

constexpr std::uint64_t kRecord = 100;

// Records of 100 bytes of one file, by their numbers.
StepCounter::Counts steps(const std::vector<int>& records) {
    StepCounter counter;
    for (const int record : records) {
        counter.add({.offset = static_cast<std::uint64_t>(record) * kRecord, .bytes = kRecord});
    }
    return counter.counts();
}

std::vector<int> shuffled(int records, unsigned seed) {
    std::vector<int> out(static_cast<std::size_t>(records));
    std::iota(out.begin(), out.end(), 0);
    std::shuffle(out.begin(), out.end(), std::mt19937(seed));
    return out;
}

TEST(Steps, of_a_reader_from_front_to_back_are_sequential) {
    const auto counts = steps({0, 1, 2, 3, 4});
    EXPECT_EQ(counts.of(Step::kFirst), 1u);
    EXPECT_EQ(counts.of(Step::kSequential), 4u);
    EXPECT_EQ(verdict_of(counts).name, "sequential");
}

TEST(Steps, at_equal_distances_are_strided_and_the_distance_is_named) {
    const auto counts = steps({0, 8, 16, 24, 32});
    EXPECT_EQ(counts.of(Step::kStrided), 4u);
    EXPECT_EQ(verdict_of(counts).name, "strided");
    EXPECT_EQ(verdict_of(counts).stride, 800);
    EXPECT_EQ(verdict_of(steps({32, 24, 16, 8, 0})).stride, -800) << "from the back";
    EXPECT_EQ(steps({0, 8, 16}).of(Step::kStrided), 0u) << "two equal jumps are chance";
}

TEST(Steps, of_contiguous_runs_at_equal_distances_are_strided_between_them) {
    const auto counts = steps({0, 1, 10, 11, 20, 21, 30, 31});
    EXPECT_EQ(counts.of(Step::kStrided), 3u);
    EXPECT_EQ(counts.of(Step::kSequential), 4u);
    EXPECT_EQ(counts.strides.at(1000), 3u);
    EXPECT_EQ(verdict_of(counts).name, "mixed");
}

TEST(Steps, forward_with_gaps_are_skipping_from_eight_on) {
    const std::vector<int> ahead = {0, 2, 3, 7, 9, 15, 16, 20, 25, 31, 33};
    const auto counts = steps(ahead);
    EXPECT_EQ(counts.of(Step::kSkipping), 8u);
    EXPECT_EQ(counts.of(Step::kSequential), 2u);
    EXPECT_EQ(steps({0, 2, 7, 9, 15, 20, 25, 31}).of(Step::kRandom), 7u);
}

TEST(Steps, from_the_back_are_reversed_and_over_and_over_repeated) {
    EXPECT_EQ(verdict_of(steps({5, 4, 3, 2, 1, 0})).name, "reversed");
    EXPECT_EQ(verdict_of(steps({5, 5, 5, 5})).name, "repeated");
}

TEST(Steps, of_shuffled_records_are_random) {
    const auto counts = steps(shuffled(1000, 1));
    EXPECT_GT(counts.of(Step::kRandom), 980u);
    EXPECT_EQ(verdict_of(counts).name, "random");
    EXPECT_EQ(std::accumulate(counts.steps.begin(), counts.steps.end(), std::uint64_t{0}), 1000u);
}

TEST(Steps, are_those_of_each_file_however_files_take_turns) {
    StepCounter counter;
    for (std::uint64_t i = 0; i < 10; ++i) {
        counter.add({.offset = i * kRecord, .bytes = kRecord, .file = 1});
        counter.add({.offset = (10 - i) * kRecord, .bytes = kRecord, .file = 2});
    }
    EXPECT_EQ(counter.counts().of(Step::kFirst), 2u);
    EXPECT_EQ(counter.counts().of(Step::kSequential), 9u);
    EXPECT_EQ(counter.counts().of(Step::kReversed), 9u);
}

TEST(Steps, are_none_where_each_file_is_accessed_once) {
    StepCounter counter;
    counter.add({.bytes = 10, .file = 1});
    counter.add({.bytes = 10, .file = 2});
    EXPECT_EQ(verdict_of(counter.counts()).name, "single");
}

TEST(Steps, name_so_many_strides_and_no_more) {
    StepCounter counter;
    std::uint64_t at = 0, jumps = 0;
    for (std::uint64_t distance = 1000; distance < 1000 + 2 * StepCounter::kStridesMax;
         ++distance) {
        for (int i = 0; i < 3; ++i, ++jumps) {
            counter.add({.offset = at += distance, .bytes = 10});
        }
    }
    EXPECT_EQ(counter.counts().of(Step::kStrided), jumps - 3)
        << "the first jump of all has none before it";
    EXPECT_EQ(counter.counts().strides.size(), StepCounter::kStridesMax);
}

}  // namespace
}  // namespace dyetrace::analysis
