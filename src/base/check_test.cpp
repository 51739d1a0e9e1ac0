#include "base/check.h"

#include <gtest/gtest.h>

namespace {

TEST(Check, is_silent_when_the_condition_holds) {
    CHECK(1 + 1 == 2);
    CHECK(1 + 1 == 2, "arithmetic");
}

TEST(CheckDeathTest, names_the_file_the_condition_and_the_message) {
    const int begin = 3, end = 2;
    EXPECT_DEATH(
        CHECK(begin <= end, "runs backwards"),
        "dyetrace: src/base/check_test.cpp:[0-9]+: CHECK.begin <= end. failed: runs backwards");
}

TEST(Check, builds_the_message_on_failure_only) {
    bool built = false;
    const auto message = [&] {
        built = true;
        return "never";
    };
    CHECK(true, message());
    EXPECT_FALSE(built);
}

TEST(CheckDeathTest, a_debug_check_aborts_in_debug_builds_and_does_not_evaluate_in_release) {
#ifdef NDEBUG
    int evaluations = 0;
    DCHECK(++evaluations > 1);
    EXPECT_EQ(evaluations, 0);
#else
    EXPECT_DEATH(DCHECK(1 > 2), "CHECK.1 > 2. failed");
#endif
}

}  // namespace
