#include "query/similarity/order_distance.h"

#include <gtest/gtest.h>

namespace dyetrace::query {
namespace {

TEST(OrderDistance, is_zero_for_the_same_order_and_one_for_the_reverse) {
    EXPECT_EQ(order_distance("[1, 2, 3]", "[1, 2, 3]"), 0.0);
    EXPECT_EQ(order_distance("[1, 2, 3]", "[3, 2, 1]"), 1.0);
    EXPECT_EQ(order_distance("[10, 9, 8, 7]", "[10, 9, 7, 8]"), 1.0 / 6);
}

TEST(OrderDistance, compares_what_both_have) {
    EXPECT_EQ(order_distance("[1, 2, 3, 4]", "[9, 1, 2]"), 0.0);
    EXPECT_EQ(order_distance("[1, 2, 3, 4]", "[4, 9, 8, 1]"), 1.0);
    EXPECT_EQ(order_distance("[1, 2]", "[3, 4]"), std::nullopt);
    EXPECT_EQ(order_distance("[]", "[]"), std::nullopt);
}

TEST(OrderDistance, compares_the_first_of_equal_items_with_the_first) {
    EXPECT_EQ(order_distance("[5, 1, 5, 2]", "[5, 1, 5, 2]"), 0.0);
    EXPECT_EQ(order_distance("[5, 5, 1]", "[1, 5, 5]"), 2.0 / 3);
}

TEST(OrderDistance, is_nothing_for_what_is_no_list) {
    EXPECT_EQ(order_distance("", "[1, 2]"), std::nullopt);
    EXPECT_EQ(order_distance("[1, 2]", "1, 2"), std::nullopt);
    EXPECT_EQ(order_distance("[", "["), std::nullopt);
}

}  // namespace
}  // namespace dyetrace::query
