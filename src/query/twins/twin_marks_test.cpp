#include "query/twins/twin_marks.h"

#include <gtest/gtest.h>

namespace dyetrace::query {
namespace {

TEST(TwinMarks, has_what_was_added_and_nothing_beside_it) {
    constexpr std::uint64_t kFirstOfHost = std::uint64_t{1} << 54;
    TwinMarks marks;
    EXPECT_TRUE(marks.empty());
    EXPECT_FALSE(marks.has(kFirstOfHost));
    for (const std::uint64_t event : {kFirstOfHost, kFirstOfHost + 4095, kFirstOfHost + 4096}) {
        marks.add(event);
    }
    EXPECT_FALSE(marks.empty());
    for (const std::uint64_t event : {kFirstOfHost, kFirstOfHost + 4095, kFirstOfHost + 4096}) {
        EXPECT_TRUE(marks.has(event)) << event;
    }
    for (const std::uint64_t event : {std::uint64_t{0},
                                      kFirstOfHost - 1,
                                      kFirstOfHost + 1,
                                      kFirstOfHost + 4097,
                                      2 * kFirstOfHost}) {
        EXPECT_FALSE(marks.has(event)) << event;
    }
}

}  // namespace
}  // namespace dyetrace::query
