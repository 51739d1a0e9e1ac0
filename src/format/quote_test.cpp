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

TEST(Quote, makes_text_for_a_terminal_harmless_and_leaves_the_rest) {
    EXPECT_EQ(make_harmless("plain \xc3\x84\xe2\x82\xac\xf0\x9f\x98\x80 \\"),
              "plain \xc3\x84\xe2\x82\xac\xf0\x9f\x98\x80 \\");
    EXPECT_EQ(make_harmless("name\x1b[2J\n"), "name\\x1b[2J\\x0a");
    EXPECT_EQ(make_harmless("\xc2\x9b"
                            "31m"),
              "\\xc2\\x9b31m");
    EXPECT_EQ(make_harmless("a\xe2\x80\xae"
                            "b"),
              "a\\xe2\\x80\\xaeb");
    EXPECT_EQ(make_harmless("\xff\xc3"), "\\xff\\xc3");
}

TEST(Quote, writes_json_strings) {
    std::string out;
    append_json_string(out, "a\"b\\\n\x7f\xc3\x84");
    EXPECT_EQ(out, "\"a\\\"b\\\\\\u000a\\u007f\xc3\x84\"");
}

}  // namespace
}  // namespace dyetrace::format
