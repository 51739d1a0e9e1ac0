#include "analysis/pattern/permutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace dyetrace::analysis {
namespace {

using Places = std::vector<std::uint32_t>;

Places in_order(std::uint32_t items) {
    Places out(items);
    std::iota(out.begin(), out.end(), 0u);
    return out;
}

Places random_order(std::uint32_t items, unsigned seed) {
    Places out = in_order(items);
    std::shuffle(out.begin(), out.end(), std::mt19937(seed));
    return out;
}

std::uint64_t inversions_pair_by_pair(const Places& order) {
    std::uint64_t inversions = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        for (std::size_t j = i + 1; j < order.size(); ++j) {
            inversions += order[j] < order[i] ? 1 : 0;
        }
    }
    return inversions;
}

TEST(Permutation, is_measured_as_the_header_shows) {
    const Permutation p = measure(Places{2, 3, 0, 1, 4, 5});
    EXPECT_EQ(p.inversions, 4u);
    EXPECT_EQ(p.pairs, 15u);
    EXPECT_NEAR(p.distance(), 0.27, 0.005);
    EXPECT_EQ(p.same_place, 2u);
    EXPECT_EQ(p.blocks, 3u);
    EXPECT_EQ(p.lookahead, 2u);
}

TEST(Permutation, counts_as_comparing_pair_by_pair_does) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        const Places order = random_order(seed, seed);
        ASSERT_EQ(measure(order).inversions, inversions_pair_by_pair(order)) << seed;
    }
}

TEST(Permutation, of_nothing_or_one_item_has_no_order) {
    EXPECT_EQ(order_of(measure({})), Order::kNoOrder);
    EXPECT_EQ(order_of(measure(Places{0})), Order::kNoOrder);
    EXPECT_EQ(measure({}).distance(), 0);
}

TEST(Permutation, same_and_reversed_are_the_ends) {
    Places order = in_order(1000);
    EXPECT_EQ(order_of(measure(order)), Order::kSame);
    EXPECT_EQ(measure(order).same_place_share(), 1);
    std::reverse(order.begin(), order.end());
    EXPECT_EQ(order_of(measure(order)), Order::kReversed);
    EXPECT_EQ(measure(order).distance(), 1);
}

TEST(Permutation, begun_elsewhere_is_rotated) {
    Places order = in_order(1000);
    std::rotate(order.begin(), order.begin() + 300, order.end());
    EXPECT_EQ(order_of(measure(order)), Order::kRotated);
}

TEST(Permutation, with_a_few_items_moved_is_nearly_the_same) {
    Places order = in_order(1000);
    std::swap(order[100], order[110]);
    std::swap(order[500], order[490]);
    EXPECT_EQ(order_of(measure(order)), Order::kNearlySame);
}

TEST(Permutation, random_is_shuffled_and_its_distance_one_half) {
    int shuffled = 0;
    for (unsigned seed = 0; seed < 100; ++seed) {
        const Permutation p = measure(random_order(1000, seed));
        EXPECT_NEAR(p.distance(), 0.5, 0.05);
        shuffled += order_of(p) == Order::kShuffled ? 1 : 0;
    }
    EXPECT_GE(shuffled, 97) << "three deviations hold 99.7 % of them";
}

TEST(Permutation, of_blocks_is_told_from_one_of_single_items) {
    Places order;
    for (const std::uint32_t block : random_order(50, 3)) {
        for (std::uint32_t i = 0; i < 20; ++i) {
            order.push_back(block * 20 + i);
        }
    }
    const Permutation p = measure(order);
    EXPECT_EQ(order_of(p), Order::kBlockShuffled);
    EXPECT_NEAR(p.block_items(), 20, 2) << "two blocks may have stayed neighbours";
}

// What a loader does that keeps `size` records in memory and gives out any of them.
TEST(Permutation, of_a_shuffle_buffer_shows_its_size) {
    std::mt19937 random(5);
    Places buffer, order;
    for (std::uint32_t next = 0; order.size() < 10'000;) {
        while (buffer.size() < 64 && next < 10'000) {
            buffer.push_back(next++);
        }
        std::swap(buffer[random() % buffer.size()], buffer.back());
        order.push_back(buffer.back());
        buffer.pop_back();
    }
    const Permutation p = measure(order);
    EXPECT_EQ(order_of(p), Order::kNearbyShuffled);
    EXPECT_EQ(p.lookahead, 63u);
}

TEST(Permutation, adds_up_over_files) {
    Permutation sum = measure(in_order(10));
    sum += measure(random_order(10, 1));
    EXPECT_EQ(sum.items, 20u);
    EXPECT_EQ(sum.pairs, 90u);
    EXPECT_EQ(sum.inversions, inversions_pair_by_pair(random_order(10, 1)));
}

}  // namespace
}  // namespace dyetrace::analysis
