#include "format/quote.h"

#include <gtest/gtest.h>

namespace dyetrace::format {
namespace {

std::string in_quotes(std::string_view bytes, std::size_t max = 32) {
    std::string out;
    append_quoted(out, bytes, max);
    return out;
}

TEST(Quote, escapes_as_strace_does) {
    EXPECT_EQ(in_quotes("a\n\t\"\\"), R"("a\n\t\"\\")");
    EXPECT_EQ(in_quotes("\x1b[31m"), R"("\33[31m")");
    EXPECT_EQ(in_quotes(std::string("\0"
                                    "7",
                                    2)),
              R"("\0007")");
    EXPECT_EQ(in_quotes(std::string("\0x", 2)), R"("\0x")");
    EXPECT_EQ(in_quotes("\xc3\x84"), R"("\303\204")");
    EXPECT_EQ(in_quotes("0123456789", 4), R"("0123"...)");
}

}  // namespace
}  // namespace dyetrace::format
