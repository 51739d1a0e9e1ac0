#include "filter/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/result.h"
#include "schema/text.h"

namespace dyetrace::filter {
namespace {

constexpr std::array<std::string_view, 14> kReserved{"and",
                                                     "or",
                                                     "not",
                                                     "in",
                                                     "is",
                                                     "like",
                                                     "ilike",
                                                     "glob",
                                                     "null",
                                                     "between",
                                                     "true",
                                                     "false",
                                                     "escape",
                                                     "cast"};

constexpr std::size_t kConditionBytesMax = 64 * 1024;
constexpr Integer kNumberMax = (Integer{1} << 64) - 1;
constexpr unsigned kDecimalDigitsMax = 15;  // exact as DECIMAL and as DOUBLE

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_name_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_name_part(char c) {
    return is_name_start(c) || is_digit(c) || c == '$';
}
bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// UTF-8 without NUL: what DuckDB takes as a statement.
bool is_text(std::string_view s) {
    std::string plain(s);
    std::erase(plain, '\\');
    return schema::escaped(plain) == plain;
}

class Lexer {
  public:
    explicit Lexer(std::string_view condition) : condition_(condition) {}

    Result<std::vector<Token>> tokens() {
        std::vector<Token> tokens;
        for (;;) {
            while (at_ < condition_.size() && is_space(condition_[at_])) {
                at_ += 1;
            }
            TRY(Token token, next());
            const bool end = token.kind == TokenKind::kEnd;
            tokens.push_back(std::move(token));
            if (end) {
                return tokens;
            }
        }
    }

  private:
    char peek(std::size_t ahead = 0) const {
        return at_ + ahead < condition_.size() ? condition_[at_ + ahead] : '\0';
    }

    Error failure(std::size_t at, std::string message) const {
        return error_at(condition_, at, std::move(message));
    }

    Result<Token> next() {
        if (at_ == condition_.size()) {
            return Token{TokenKind::kEnd, at_, {}, 0, 0};
        }
        if (is_name_start(peek())) {
            return name();
        }
        if (is_digit(peek()) || (peek() == '.' && is_digit(peek(1)))) {
            return number();
        }
        if (peek() == '\'') {
            return quoted('\'', TokenKind::kText, "text");
        }
        if (peek() == '"') {
            return quoted('"', TokenKind::kQuotedName, "name");
        }
        return symbol();
    }

    Token name() {
        const std::size_t begin = at_;
        while (is_name_part(peek()) || (peek() == '.' && is_name_start(peek(1)))) {
            at_ += 1;  // a probe's columns have points: arguments.file.f_inode
        }
        return {TokenKind::kName, begin, std::string(condition_.substr(begin, at_ - begin)), 0, 0};
    }

    Result<Token> quoted(char quote, TokenKind kind, std::string_view what) {
        const std::size_t begin = at_;
        std::string text;
        for (at_ += 1;; at_ += 1) {
            if (at_ == condition_.size()) {
                return failure(begin,
                               fmt::format("this {} does not end, close it with {}", what, quote));
            }
            if (peek() == quote && peek(1) != quote) {
                at_ += 1;
                return Token{kind, begin, std::move(text), 0, 0};
            }
            at_ += peek() == quote ? 1u : 0u;
            text.push_back(peek());
        }
    }

    Result<Token> number() {
        const std::size_t begin = at_;
        Token token{TokenKind::kInteger, begin, {}, 0, 0};
        const bool hex =
            peek() == '0' && (peek(1) == 'x' || peek(1) == 'X') && hex_digit(peek(2)) >= 0;
        at_ += hex ? 2u : 0u;
        const int base = hex ? 16 : 10;
        unsigned digits = 0;
        for (;; at_ += 1) {
            if (!hex && peek() == '.' && token.kind == TokenKind::kInteger) {
                token.kind = TokenKind::kDecimal;
                continue;
            }
            if (peek() == '_' && digits > 0 && hex_digit(peek(1)) >= 0 &&
                hex_digit(peek(1)) < base) {
                continue;
            }
            const int digit = hex_digit(peek());
            if (digit < 0 || digit >= base) {
                break;
            }
            token.number = token.number * base + digit;
            token.scale += token.kind == TokenKind::kDecimal ? 1u : 0u;
            digits += token.number > 0 || token.scale > 0 ? 1u : (digits == 0 ? 1u : 0u);
            if (token.number > kNumberMax) {
                return failure(begin, "this number is larger than any column can hold");
            }
        }
        if (is_name_part(peek()) || peek() == '.') {
            return failure(begin, "a number is written 4096, 1_000_000, 0xfff or 1.5");
        }
        if (token.kind == TokenKind::kDecimal && digits > kDecimalDigitsMax) {
            return failure(
                begin,
                fmt::format("a number with a point has at most {} digits", kDecimalDigitsMax));
        }
        token.text = condition_.substr(begin, at_ - begin);
        return token;
    }

    Result<Token> symbol() {
        constexpr std::array<std::string_view, 25> kSymbols{
            "<=", ">=", "<>", "!=", "==", "<<", ">>", "::", "//", "=", "<", ">", "(",
            ")",  ",",  "+",  "-",  "*",  "/",  "%",  "&",  "|",  ".", "~", "^"};
        const std::string_view rest = condition_.substr(at_);
        if (rest.starts_with("--") || rest.starts_with("/*")) {
            return failure(at_, "a condition has no comments");
        }
        if (rest.starts_with(";")) {
            return failure(at_, "a condition is not a statement: leave out ';'");
        }
        for (const std::string_view symbol : kSymbols) {
            if (rest.starts_with(symbol)) {
                const Token token{TokenKind::kSymbol, at_, std::string(symbol), 0, 0};
                at_ += symbol.size();
                return token;
            }
        }
        return failure(at_, "this character means nothing in a condition");
    }

    std::string_view condition_;
    std::size_t at_ = 0;
};

}  // namespace

Error error_at(std::string_view condition, std::size_t at, std::string message) {
    const std::string_view before = condition.substr(0, std::min(at, condition.size()));
    const auto characters = std::count_if(before.begin(), before.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u;
    });
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("at character {}: {}", characters + 1, message));
}

Result<std::vector<Token>> tokens_of(std::string_view condition) {
    if (condition.size() > kConditionBytesMax) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("a condition has at most {} bytes", kConditionBytesMax));
    }
    if (!is_text(condition)) {
        return Error(ErrorCode::kInvalidArgument,
                     "a condition is UTF-8; write other bytes of a name as they are shown, for "
                     "instance \\xff");
    }
    return Lexer(condition).tokens();
}

bool same_word(std::string_view a, std::string_view lower) {
    if (a.size() != lower.size()) {
        return false;
    }
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (std::tolower(static_cast<unsigned char>(a[i])) != lower[i]) {
            return false;
        }
    }
    return true;
}

bool is_reserved(std::string_view name) {
    return std::any_of(kReserved.begin(), kReserved.end(), [&](std::string_view reserved) {
        return same_word(name, reserved);
    });
}

}  // namespace dyetrace::filter
