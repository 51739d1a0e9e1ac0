#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace dyetrace::base {
namespace {

std::string encoded(char32_t value) {
    const auto low = [&](unsigned shift) {
        return static_cast<char>(0x80 | ((value >> shift) & 0x3f));
    };
    const auto head = [](char32_t byte) { return static_cast<char>(byte); };
    if (value < 0x80) return {head(value)};
    if (value < 0x800) return {head(0xc0 | value >> 6), low(0)};
    if (value < 0x10000) return {head(0xe0 | value >> 12), low(6), low(0)};
    return {head(0xf0 | value >> 18), low(12), low(6), low(0)};
}

TEST(Utf8, reads_every_code_point_and_no_surrogate) {
    for (char32_t value = 0; value <= 0x10ffff; ++value) {
        const std::string text = encoded(value);
        const CodePoint point = first_code_point(text + "x");
        const bool is_surrogate = value >= 0xd800 && value <= 0xdfff;
        ASSERT_EQ(point.value, is_surrogate ? kNotUtf8 : value) << std::hex << unsigned{value};
        ASSERT_EQ(point.bytes, is_surrogate ? 1 : text.size()) << std::hex << unsigned{value};
    }
}

TEST(Utf8, refuses_what_is_not_utf8_one_byte_at_a_time) {
    for (const char* text : {"\x80",
                             "\xbf",
                             "\xc0\x80",
                             "\xc1\xbf",
                             "\xe0\x9f\xbf",
                             "\xf0\x8f\xbf\xbf",
                             "\xf4\x90\x80\x80",
                             "\xf5\x80\x80\x80",
                             "\xfe",
                             "\xff",
                             "\xc3",
                             "\xc3x",
                             "\xe2\x82",
                             "\xe2\x82x",
                             "\xf0\x9f\x98",
                             "\xf0\x9f\x98x"}) {
        EXPECT_EQ(first_code_point(text).value, kNotUtf8) << text;
        EXPECT_EQ(first_code_point(text).bytes, 1u) << text;
    }
}

}  // namespace
}  // namespace dyetrace::base
