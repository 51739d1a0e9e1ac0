// UTF-8 read strictly, one code point at a time (Unicode 15, table 3-7).
//
//   first_code_point("ä…")          {U+00E4, 2 bytes}
//   first_code_point("\xff…")       {kNotUtf8, 1 byte}
//
// What is not UTF-8 is refused byte by byte: an overlong form, a half of a surrogate pair, a continuation without a
// beginning, a character that is cut, and everything above U+10FFFF.
#pragma once

#include <cstddef>
#include <string_view>

namespace dyetrace::base {

inline constexpr char32_t kNotUtf8 = 0xffffffff;  // stands for one byte

struct CodePoint {
    char32_t value;
    std::size_t bytes;
};

// The first character of `text`, which is not empty.
CodePoint first_code_point(std::string_view text);

}  // namespace dyetrace::base
