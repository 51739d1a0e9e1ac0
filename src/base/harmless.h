// Text of strangers made harmless: on a terminal, in a table, in a log, in JSON.
//
//   make_harmless("name\x1b[2J\n")      name\x1b[2J\n          a control character below U+0080: \x and two digits, or \n \t \r
//   make_harmless("gnp.\u202eexe")      gnp.\u202eexe          what is seen as nothing, or changes how the rest is seen
//   make_harmless("\U000e0041")         \u{e0041}              the same above U+FFFF
//   make_harmless("\xff")               \xff                   a byte that is not UTF-8 (there is no \x above \x7f otherwise)
//
// Harmful is what a terminal obeys (C0, DEL, C1), what breaks a line (U+2028, U+2029), what turns the direction of
// writing, and what cannot be seen, so that two names that differ look alike (zero width, byte order mark, tags,
// soft hyphen, noncharacters). Accents, wide characters, emoji and private use (symbols of terminals' fonts) stay.
// Text that is harmless stays as it is, byte for byte; so does a backslash, and doing it twice does no harm.
//
// The ranges stand in base/harmful_ranges.inc. The page shows the same (src/ui/view/elements.ts, held equal by
// test/page/harmless.test.mjs); JSON has \uXXXX in its strings instead (base/json_string.h).
#pragma once

#include <string>
#include <string_view>

namespace dyetrace::base {

// `code_point` is what first_code_point gives: kNotUtf8 is harmful too.
bool is_harmful(char32_t code_point);

void append_harmless(std::string& out, std::string_view bytes);
std::string make_harmless(std::string_view bytes);

// The same of a text of several lines: \n and \t stay.
std::string make_lines_harmless(std::string_view text);

}  // namespace dyetrace::base
