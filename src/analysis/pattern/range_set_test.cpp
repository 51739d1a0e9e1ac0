#include "analysis/pattern/range_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace dyetrace::analysis {
namespace {

TEST(RangeSet, says_what_is_new) {
    RangeSet set;
    EXPECT_EQ(set.add({0, 100, 200}), 100u);
    EXPECT_EQ(set.add({0, 150, 250}), 50u);
    EXPECT_EQ(set.add({1, 150, 250}), 100u) << "another file";
    EXPECT_EQ(set.add({0, 250, 300}), 50u);
    EXPECT_EQ(set.ranges(), 2u) << "what touches is one";
    EXPECT_EQ(set.covered({0, 0, 1000}), 200u);
    EXPECT_EQ(set.covered({0, 120, 130}), 10u);
    EXPECT_EQ(set.covered({2, 0, 1000}), 0u);
}

TEST(RangeSet, gives_the_holes_in_order) {
    RangeSet set;
    set.add({0, 10, 20});
    set.add({0, 30, 40});
    std::vector<FileRange> fresh;
    EXPECT_EQ(set.add({0, 0, 50}, &fresh), 30u);
    const std::vector<FileRange> holes = {{0, 0, 10}, {0, 20, 30}, {0, 40, 50}};
    EXPECT_EQ(fresh, holes);
    EXPECT_EQ(set.ranges(), 1u);
}

TEST(RangeSet, agrees_with_a_set_of_single_bytes) {
    std::mt19937 random(7);
    RangeSet set;
    std::set<std::pair<std::uint32_t, std::uint64_t>> bytes;
    for (int i = 0; i < 2000; ++i) {
        const std::uint32_t file = random() % 2;
        const std::uint64_t from = random() % 500, to = from + 1 + random() % 20;
        std::uint64_t known = 0, added = 0;
        for (std::uint64_t at = from; at < to; ++at) {
            known += bytes.contains({file, at}) ? 1 : 0;
        }
        ASSERT_EQ(set.covered({file, from, to}), known);
        if (i % 3 == 0) {
            for (std::uint64_t at = from; at < to; ++at) {
                added += bytes.emplace(file, at).second ? 1 : 0;
            }
            ASSERT_EQ(set.add({file, from, to}), added);
        }
        if (i % 500 == 499) {
            set.clear();
            bytes.clear();
        }
    }
}

}  // namespace
}  // namespace dyetrace::analysis
