// The tokens of a condition.
//
//   path GLOB '/var/*'   ─►   name path @0 · name GLOB @5 · text /var/* @10 · end @18
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "filter/expression.h"

namespace dyetrace::filter {

enum class TokenKind : std::uint8_t {
    kName,
    kQuotedName,
    kInteger,
    kDecimal,
    kText,
    kSymbol,
    kEnd
};

struct Token {
    TokenKind kind = TokenKind::kEnd;
    std::size_t at = 0;  // byte of the condition
    std::string text;    // name, text without quotes and escapes, symbol; as written for numbers
    Integer number = 0;  // kInteger; kDecimal: without its point
    unsigned scale = 0;  // kDecimal: digits after the point
};

// Whether a word is this one, which is in lower case.
bool same_word(std::string_view a, std::string_view lower);
// Whether it cannot be a column, so that a missing operand is said as such.
bool is_reserved(std::string_view name);

// "at character 7: message", with `at` a byte of `condition`.
Error error_at(std::string_view condition, std::size_t at, std::string message);

// Ends with a kEnd. Limits: 64 KiB of condition, numbers from -2^64 to 2^64, 15 digits with a point.
Result<std::vector<Token>> tokens_of(std::string_view condition);

}  // namespace dyetrace::filter
