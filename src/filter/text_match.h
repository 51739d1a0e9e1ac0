// Patterns over text, byte for byte as DuckDB matches them.
//
//   like("a_b", "a\\_b", '\\')   % any run, _ one character (of UTF-8), escape makes the next one plain
//   glob("/var/log/x", "/var/*") * any run, ? one byte, [a-c] [!a-c] one byte, \ makes the next one plain
//   ilike("README", "read%")     letters of either case
//
// `text` is valid UTF-8. Limits: time is the product of both lengths for each run in the pattern that is retried; DuckDB
// retries every run, here only the last one can be retried (the answer is the same).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dyetrace::filter {

bool like(std::string_view text, std::string_view pattern, std::optional<char> escape);

// The pattern is ASCII: the two letters outside ASCII whose small form is inside (İ and the Kelvin sign) are known here.
bool ilike(std::string_view text, std::string_view pattern, std::optional<char> escape);

bool glob(std::string_view text, std::string_view pattern);

// DuckDB refuses a pattern that ends in its escape character, when it gets there.
bool ends_in_escape(std::string_view pattern, char escape);

}  // namespace dyetrace::filter
