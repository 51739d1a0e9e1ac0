#include "capture/directory_cache.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace dyetrace::capture {
namespace {

constexpr std::uint64_t kBuckets = 0xffff888004200000;
constexpr std::uint32_t kShift = 14;

// Entries that are first in their bucket, and some that another entry points to.
std::vector<directory_entry> entries(std::size_t first, std::size_t others) {
    std::mt19937 random(7);
    std::vector<directory_entry> made;
    for (std::size_t i = 0; i < first; ++i) {
        const auto hash = static_cast<std::uint32_t>(random());
        made.push_back({kBuckets + 8ull * (hash >> kShift), hash, 0});
    }
    for (std::size_t i = 0; i < others; ++i) {
        made.push_back({0xffff888010000008 + 192ull * (random() % 100'000),
                        static_cast<std::uint32_t>(random()),
                        0});
    }
    return made;
}

TEST(DirectoryCache, is_where_most_entries_agree_that_it_is) {
    for (const auto& [first, others] : {std::pair(8, 0), std::pair(60, 0), std::pair(60, 40)}) {
        const auto cache =
            cache_of(entries(static_cast<std::size_t>(first), static_cast<std::size_t>(others)));
        ASSERT_TRUE(cache) << first << " " << others;
        EXPECT_EQ(cache->buckets, kBuckets);
        EXPECT_EQ(cache->shift, kShift);
    }
}

TEST(DirectoryCache, is_not_known_where_few_agree) {
    EXPECT_FALSE(cache_of({}));
    EXPECT_FALSE(cache_of(entries(7, 0)));
    EXPECT_FALSE(cache_of(entries(0, 100)));
    EXPECT_FALSE(cache_of(entries(30, 40)));
}

TEST(DirectoryCache, is_not_known_from_one_entry_that_is_shown_many_times) {
    EXPECT_FALSE(cache_of(std::vector<directory_entry>(100, entries(1, 0)[0])));
}

}  // namespace
}  // namespace dyetrace::capture
