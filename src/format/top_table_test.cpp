#include "format/top_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace dyetrace::format {
namespace {

TEST(TopTable, shows_names_that_a_terminal_would_obey_as_text) {
    const std::string name = "<b>\x1b[1m\u202e";
    TopRow one, other;
    one.comm = other.comm = name;
    one.arguments = "one\x1b[2J";
    other.arguments = "two";
    const std::vector<TopRow> rows = {one, other};
    const std::string shown = top_text(rows, 1, 10, 200);
    EXPECT_EQ(shown.find('\x1b'), std::string::npos) << shown;
    EXPECT_NE(shown.find("<b>\\x1b[1m\\u202e one\\x1b[2J"), std::string::npos) << shown;
}

}  // namespace
}  // namespace dyetrace::format
