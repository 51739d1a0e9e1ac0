#include "analysis/dataflow/extent_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "analysis/dataflow/memory_store.h"

namespace dyetrace::analysis {
namespace {

class ExtentMapTest : public ::testing::Test {
  protected:
    void put(std::uint64_t begin, std::uint64_t end, std::uint64_t event) {
        map_.put(begin, end, Act{.event = event, .end_ns = event});
    }
    // "0-40:1 40-60:2"
    std::string text(std::uint64_t begin = 0, std::uint64_t end = 1000) {
        std::string text;
        map_.each(begin, end, [&](std::uint64_t first, std::uint64_t last, const Extent& extent) {
            text += (text.empty() ? "" : " ") + std::to_string(first) + "-" + std::to_string(last) +
                    ":" + std::to_string(extent.act.event);
        });
        return text;
    }

    ExtentPool pool_;
    ExtentMap map_{pool_};
};

TEST_F(ExtentMapTest, the_last_one_owns_what_it_covers) {
    put(0, 100, 1);
    put(40, 60, 2);
    EXPECT_EQ(text(), "0-40:1 40-60:2 60-100:1");
    put(30, 70, 3);
    EXPECT_EQ(text(), "0-30:1 30-70:3 70-100:1");
    put(0, 100, 4);
    EXPECT_EQ(text(), "0-100:4");
}

TEST_F(ExtentMapTest, neighbours_stay_whole) {
    put(10, 20, 1);
    put(0, 10, 2);
    put(20, 30, 3);
    EXPECT_EQ(text(), "0-10:2 10-20:1 20-30:3");
}

TEST_F(ExtentMapTest, what_is_cut_has_no_owner) {
    put(0, 100, 1);
    map_.cut(50, 80);
    EXPECT_EQ(text(), "0-50:1 80-100:1");
    map_.cut(0, UINT64_MAX);
    EXPECT_EQ(text(), "");
    EXPECT_TRUE(map_.empty());
}

TEST_F(ExtentMapTest, parts_of_a_range_are_clipped_to_it) {
    put(0, 100, 1);
    put(200, 300, 2);
    EXPECT_EQ(text(50, 250), "50-100:1 200-250:2");
    EXPECT_EQ(text(100, 200), "");
}

TEST_F(ExtentMapTest, the_pool_knows_how_many_live) {
    put(0, 100, 1);
    put(40, 60, 2);
    EXPECT_EQ(pool_.live, 3u);
    map_.cut(50, 55);
    EXPECT_EQ(pool_.live, 4u);
    {
        ExtentMap other(pool_);
        other.put(0, 1, {});
        EXPECT_EQ(pool_.live, 5u);
    }
    map_.cut(0, 100);
    EXPECT_EQ(pool_.live, 0u);
}

// Many leaves, and an array that says who owns each byte. `between`: what is done to the map after each change.
template <typename Between>
void compare_with_owners(ExtentPool& pool, Between between) {
    constexpr std::size_t kBytes = 8192;
    for (unsigned seed = 1; seed <= 20; ++seed) {
        std::mt19937_64 random(seed);
        ExtentMap map(pool);
        std::vector<std::uint64_t> owners(kBytes, 0);
        for (std::uint64_t event = 1; event <= 3000; ++event) {
            const std::uint64_t begin = random() % kBytes;
            const std::uint64_t longest = random() % 50 == 0 ? kBytes : 12;
            const std::uint64_t end =
                std::min<std::uint64_t>(kBytes, begin + 1 + random() % longest);
            const bool cuts = random() % 4 == 0;
            if (cuts) {
                map.cut(begin, end);
            } else {
                map.put(begin, end, Act{.event = event});
            }
            std::fill(owners.begin() + static_cast<std::ptrdiff_t>(begin),
                      owners.begin() + static_cast<std::ptrdiff_t>(end),
                      cuts ? 0 : event);
            between(map, random);
            const std::uint64_t from = random() % kBytes, to = std::min(kBytes, from + 200);
            std::vector<std::uint64_t> said(to - from, 0);
            map.each(from, to, [&](std::uint64_t first, std::uint64_t last, const Extent& extent) {
                for (std::uint64_t i = first; i < last; ++i) {
                    ASSERT_EQ(said[i - from], 0u);
                    said[i - from] = extent.act.event;
                }
            });
            ASSERT_TRUE(std::equal(
                said.begin(), said.end(), owners.begin() + static_cast<std::ptrdiff_t>(from)))
                << "seed " << seed << ", event " << event;
        }
    }
    EXPECT_EQ(pool.live, 0u);
    EXPECT_EQ(pool.leaves, 0u);
}

TEST_F(ExtentMapTest, says_what_an_array_of_owners_says) {
    compare_with_owners(pool_, [](ExtentMap&, std::mt19937_64&) {});
}

TEST_F(ExtentMapTest, says_the_same_when_leaves_are_away) {
    MemoryStore store;
    pool_.store = &store;
    compare_with_owners(pool_, [&](ExtentMap& map, std::mt19937_64& random) {
        map.put_away_before(pool_.reached - random() % 10);
    });
    EXPECT_GT(pool_.put_away, 1'000'000u);
    EXPECT_GT(store.taken, 10'000u);
    EXPECT_EQ(store.size(), 0u);
    EXPECT_EQ(pool_.forgotten, 0u);
}

TEST_F(ExtentMapTest, does_not_look_at_leaves_that_are_cut_whole) {
    MemoryStore store;
    pool_.store = &store;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        put(10 * i, 10 * i + 10, i + 1);
    }
    map_.put_away_before(UINT64_MAX);
    EXPECT_EQ(pool_.live, 0u);
    map_.cut(0, 9999);
    EXPECT_EQ(store.taken, 2u);  // the first and the last
    EXPECT_EQ(store.size(), 0u);
    EXPECT_EQ(text(0, 100'000), "9999-10000:1000");
}

TEST_F(ExtentMapTest, keeps_other_owners_while_it_is_away) {
    MemoryStore store;
    pool_.store = &store;
    map_.put(0,
             10,
             Act{.event = 1},
             {Act{.event = 2, .offset = 7, .end_ns = 9, .certain = false}, Act{.event = 3}});
    map_.put_away_before(UINT64_MAX);
    map_.each(0, 10, [](std::uint64_t, std::uint64_t, const Extent& extent) {
        ASSERT_EQ(extent.others->size(), 2u);
        EXPECT_EQ((*extent.others)[0].offset, 7u);
        EXPECT_EQ((*extent.others)[0].end_ns, 9u);
        EXPECT_FALSE((*extent.others)[0].certain);
        EXPECT_EQ((*extent.others)[1].event, 3u);
    });
    EXPECT_EQ(store.taken, 1u);
}

TEST_F(ExtentMapTest, forgets_what_was_not_touched_where_there_is_no_room) {
    MemoryStore store;
    store.room = 1;
    pool_.store = &store;
    for (std::uint64_t i = 0; i < 3 * ExtentMap::kLeafExtents; ++i) {
        put(10 * i, 10 * i + 10, i + 1);
    }
    map_.put_away_before(UINT64_MAX);  // one leaf into the store, two are forgotten
    EXPECT_EQ(pool_.forgotten, 2 * ExtentMap::kLeafExtents);
    EXPECT_EQ(text(0, 20), "0-10:1 10-20:2");
    EXPECT_EQ(text(640, 100'000), "");
    map_.forget_before(UINT64_MAX);
    EXPECT_TRUE(map_.empty());
    EXPECT_EQ(pool_.forgotten, 3 * ExtentMap::kLeafExtents);
}

TEST_F(ExtentMapTest, goes_on_without_what_the_store_has_lost) {
    MemoryStore store;
    pool_.store = &store;
    for (std::uint64_t i = 0; i < 2 * ExtentMap::kLeafExtents; ++i) {
        put(10 * i, 10 * i + 10, i + 1);
    }
    map_.put_away_before(UINT64_MAX);
    store.loses = true;
    EXPECT_EQ(text(0, 20), "");
    store.loses = false;
    EXPECT_EQ(text(0, 650), "640-650:65");
    EXPECT_EQ(pool_.forgotten, ExtentMap::kLeafExtents);
    put(5, 15, 1000);
    put(0, 5, 1001);
    map_.cut(12, 700);
    EXPECT_EQ(text(0, 710), "0-5:1001 5-12:1000 700-710:71");
}

}  // namespace
}  // namespace dyetrace::analysis
