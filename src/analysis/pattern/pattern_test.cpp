#include "analysis/pattern/pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

namespace dyetrace::analysis {
namespace {

Access read_at(std::uint64_t offset, std::uint64_t bytes, std::uint32_t file = 0) {
    return {.offset = offset, .bytes = bytes, .file = file};
}

TEST(Pattern, says_what_was_covered_and_how_often) {
    PatternBuilder builder;
    builder.add(read_at(0, 1000));
    builder.add(read_at(0, 500));
    builder.add(read_at(250, 250));
    const Pattern pattern = std::move(builder).finish({2000});
    EXPECT_EQ(pattern.accesses, 3u);
    EXPECT_EQ(pattern.bytes, 1750u);
    EXPECT_EQ(pattern.extent.bytes(), 2000u);
    EXPECT_EQ(pattern.coverage.covered_bytes, 1000u);
    EXPECT_EQ(pattern.coverage.once_bytes, 500u);
    EXPECT_EQ(pattern.coverage.times_max, 3u);
    EXPECT_NEAR(pattern.coverage.times[0], 2, 1e-9);   // bytes 0 to 50
    EXPECT_NEAR(pattern.coverage.times[5], 3, 1e-9);   // 250 to 300
    EXPECT_NEAR(pattern.coverage.times[10], 1, 1e-9);  // 500 to 550
    EXPECT_NEAR(pattern.coverage.times[20], 0, 1e-9);  // 1000 to 1050
}

TEST(Pattern, puts_files_after_one_another) {
    PatternBuilder builder;
    builder.add(read_at(0, 100, 1));
    builder.add(read_at(0, 300, 0));
    const Pattern pattern = std::move(builder).finish({300});
    EXPECT_EQ(pattern.extent.bytes(), 400u) << "the second one is as long as it was read";
    EXPECT_EQ(pattern.extent.place(1, 0), 300u);
    EXPECT_EQ(pattern.coverage.covered_bytes, 400u);
}

TEST(Pattern, names_the_usual_sizes) {
    PatternBuilder builder;
    for (std::uint64_t i = 0; i < 10; ++i) {
        builder.add(read_at(i * 5000, 8));
        builder.add(read_at(i * 5000 + 8, i < 9 ? 4096 : 100));
    }
    const Pattern pattern = std::move(builder).finish({});
    EXPECT_EQ(pattern.sizes.min, 8u);
    EXPECT_EQ(pattern.sizes.max, 4096u);
    ASSERT_EQ(pattern.sizes.frequent.size(), 3u);
    EXPECT_EQ(pattern.sizes.frequent[0].bytes, 8u);
    EXPECT_EQ(pattern.sizes.frequent[0].accesses, 10u);
    EXPECT_EQ(pattern.sizes.frequent[1].bytes, 4096u);
}

TEST(Pattern, of_more_accesses_than_it_keeps_is_one_of_a_sample_by_place) {
    std::vector<std::uint64_t> records(4000);
    std::iota(records.begin(), records.end(), 0u);
    std::mt19937 random(1);
    PatternBuilder builder(1000);
    for (int epoch = 0; epoch < 3; ++epoch) {
        for (const std::uint64_t record : records) {
            builder.add(read_at(record * 4096, 4096));
        }
        std::shuffle(records.begin(), records.end(), random);
    }
    const Pattern pattern = std::move(builder).finish({});
    EXPECT_LE(pattern.kept.size(), 1000u);
    EXPECT_GE(pattern.sampled_one_in, 16u);
    EXPECT_EQ(pattern.kept_of_first, std::nullopt);
    EXPECT_GE(pattern.steps.of(Step::kSequential), 4000u - 1u) << "steps are counted of all";
    ASSERT_EQ(pattern.by_place.passes.size(), 3u);
    EXPECT_EQ(order_of(pattern.by_place.passes[2].beside_previous->pieces), Order::kShuffled);
}

TEST(Pattern, of_one_place_over_and_over_is_one_of_the_first_accesses) {
    PatternBuilder builder(1000);
    for (int i = 0; i < 5000; ++i) {
        builder.add(read_at(0, 4096));
    }
    const Pattern pattern = std::move(builder).finish({});
    EXPECT_EQ(pattern.kept_of_first, 1001u);
    EXPECT_EQ(pattern.kept.size(), 1001u);
    EXPECT_EQ(pattern.steps.of(Step::kRepeated), 4999u);
}

TEST(Pattern, of_nothing_is_empty) {
    const Pattern pattern = PatternBuilder().finish({100});
    EXPECT_EQ(pattern.accesses, 0u);
    EXPECT_TRUE(pattern.by_place.passes.empty());
    EXPECT_FALSE(pattern.by_content);
}

}  // namespace
}  // namespace dyetrace::analysis
