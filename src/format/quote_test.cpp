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

TEST(Quote, is_hexadecimal_where_asked_for) {
    const auto shown = [](std::string_view bytes, Quotes quotes) {
        std::string out;
        append_quoted(out, bytes, 32, false, quotes);
        return out;
    };
    EXPECT_EQ(shown("a\n", Quotes::kHexIfAny), R"("a\n")");
    EXPECT_EQ(shown("a\1", Quotes::kHexIfAny), R"("\x61\x01")");
    EXPECT_EQ(shown("a\xff", Quotes::kHexIfAny), R"("\x61\xff")");
    EXPECT_EQ(shown("ab", Quotes::kHex), R"("\x61\x62")");
    EXPECT_EQ(shown("", Quotes::kHex), R"("")");
}

TEST(Quote, escapes_what_would_end_a_name) {
    std::string out;
    append_between(out, "/a<b>\"\n");
    EXPECT_EQ(out, R"(/a\74b\76\"\n)");
}

}  // namespace
}  // namespace dyetrace::format
