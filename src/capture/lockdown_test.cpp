#include "capture/lockdown.h"

#include <gtest/gtest.h>

namespace dyetrace::capture {
namespace {

TEST(Lockdown, is_the_mode_in_brackets) {
    EXPECT_EQ(chosen_mode("[none] integrity confidentiality"), "none");
    EXPECT_EQ(chosen_mode("none integrity [confidentiality]"), kLockedDown);
}

TEST(Lockdown, is_unknown_where_the_kernel_does_not_say) {
    EXPECT_EQ(chosen_mode(""), "");
    EXPECT_EQ(chosen_mode("none ]integrity["), "");
    EXPECT_EQ(chosen_mode("[none"), "");
}

}  // namespace
}  // namespace dyetrace::capture
