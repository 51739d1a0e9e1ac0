#include "base/spelling.h"

#include <gtest/gtest.h>

namespace dyetrace::base {
namespace {

TEST(Spelling, finds_what_was_meant) {
    const std::vector<std::string_view> verbs{"record", "report", "sql", "top", "follow"};
    EXPECT_EQ(nearest_word("recrod", verbs), "record");
    EXPECT_EQ(nearest_word("reprot", verbs), "report");
    EXPECT_EQ(nearest_word("fol", verbs), "follow");
    EXPECT_EQ(nearest_word("sqll", verbs), "sql");
}

TEST(Spelling, of_two_as_near_takes_the_first) {
    EXPECT_EQ(nearest_word("rat", {"cat", "hat"}), "cat");
}

TEST(Spelling, what_is_far_from_all_is_none_of_them) {
    const std::vector<std::string_view> verbs{"record", "top", "ui"};
    EXPECT_EQ(nearest_word("foo", verbs), "");
    EXPECT_EQ(nearest_word("xy", verbs), "");
    EXPECT_EQ(nearest_word("", verbs), "");
    EXPECT_EQ(nearest_word("record", {}), "");
}

}  // namespace
}  // namespace dyetrace::base
