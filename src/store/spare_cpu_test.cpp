#include "store/spare_cpu.h"

#include <gtest/gtest.h>

namespace dyetrace::store {
namespace {

TEST(SpareCpu, is_read_from_the_line_of_all_cpus) {
    EXPECT_EQ(idle_ticks("cpu  10 20 30 400 50 60 70 8 9 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n"), 450u);
}

TEST(SpareCpu, is_unknown_where_there_is_no_such_line) {
    EXPECT_EQ(idle_ticks(""), 0u);
    EXPECT_EQ(idle_ticks("cpu  10 20\n"), 0u);
    EXPECT_EQ(idle_ticks("intr 1 2 3 4 5 6\n"), 0u);
}

}  // namespace
}  // namespace dyetrace::store
