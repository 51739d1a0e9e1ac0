#include "analysis/extent_map.h"

#include <gtest/gtest.h>

#include <string>

namespace dyetrace::analysis {
namespace {

class ExtentMapTest : public ::testing::Test {
  protected:
    void put(std::uint64_t begin, std::uint64_t end, std::uint64_t event) {
        map_.put(begin, end, Act{.event = event, .end_ns = event});
    }
    // "0-40:1 40-60:2"
    std::string text(std::uint64_t begin = 0, std::uint64_t end = 1000) const {
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

TEST_F(ExtentMapTest, forgets_what_is_older) {
    put(0, 10, 1);
    put(10, 20, 2);
    put(20, 30, 3);
    map_.forget_before(3);
    EXPECT_EQ(text(), "20-30:3");
    EXPECT_EQ(pool_.live, 1u);
}

}  // namespace
}  // namespace dyetrace::analysis
