#include "filter/parser.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <optional>
#include <utility>
#include <vector>

#include "filter/checks.h"
#include "filter/lexer.h"

namespace dyetrace::filter {
namespace {

struct Spelling {
    std::string_view words;
    Operator op;
};

constexpr std::array<Spelling, 8> kComparisons{{{"=", Operator::kEqual},
                                                {"==", Operator::kEqual},
                                                {"<>", Operator::kNotEqual},
                                                {"!=", Operator::kNotEqual},
                                                {"<", Operator::kLess},
                                                {"<=", Operator::kLessEqual},
                                                {">", Operator::kGreater},
                                                {">=", Operator::kGreaterEqual}}};
constexpr std::array<Spelling, 5> kFunctions{{{"starts_with", Operator::kStartsWith},
                                              {"prefix", Operator::kStartsWith},
                                              {"ends_with", Operator::kEndsWith},
                                              {"suffix", Operator::kEndsWith},
                                              {"contains", Operator::kContains}}};
constexpr std::array<Spelling, 4> kBits{{{"&", Operator::kBitAnd},
                                         {"|", Operator::kBitOr},
                                         {">>", Operator::kShiftRight},
                                         {"<<", Operator::kMultiply}}};
constexpr std::array<Spelling, 2> kSums{{{"+", Operator::kAdd}, {"-", Operator::kSubtract}}};
constexpr std::array<Spelling, 3> kProducts{
    {{"*", Operator::kMultiply}, {"%", Operator::kModulo}, {"//", Operator::kDivide}}};
constexpr std::string_view kPowerOfTwo = "power_of_two";

class Parser {
  public:
    Parser(std::string_view condition, std::vector<Token> tokens, const RowLayout* row)
        : condition_(condition), tokens_(std::move(tokens)), row_(row) {}

    Result<Expression> whole() {
        if (word().kind == TokenKind::kEnd) {
            return failure(0, "the condition is empty");
        }
        TRY(Expression condition, disjunction_as_condition());
        if (word().kind != TokenKind::kEnd) {
            return failure(word().at, unexpected());
        }
        return condition;
    }

    Result<Expression> whole_value() {
        TRY(Operand operand, bits());
        if (word().kind != TokenKind::kEnd) {
            return failure(word().at, unexpected());
        }
        if (operand.decimal) {
            return failure(0, "a value here is a whole number or text");
        }
        return operand.expression;
    }

  private:
    // A token may be asked for once more than there are: the end stays.
    const Token& word(std::size_t ahead = 0) const {
        return tokens_[std::min(next_ + ahead, tokens_.size() - 1)];
    }
    void advance() { next_ += 1; }

    bool is_keyword(std::string_view lower, std::size_t ahead = 0) const {
        return word(ahead).kind == TokenKind::kName && same_word(word(ahead).text, lower);
    }
    bool is_symbol(std::string_view symbol) const {
        return word().kind == TokenKind::kSymbol && word().text == symbol;
    }
    bool take_keyword(std::string_view lower) { return is_keyword(lower) && (advance(), true); }
    bool take_symbol(std::string_view symbol) { return is_symbol(symbol) && (advance(), true); }

    Result<void> expect_symbol(std::string_view symbol) {
        if (!take_symbol(symbol)) {
            return failure(word().at, fmt::format("'{}' is missing here", symbol));
        }
        return {};
    }

    template <std::size_t Size>
    std::optional<Operator> take_operator(const std::array<Spelling, Size>& spellings) {
        for (const Spelling& spelling : spellings) {
            if (is_symbol(spelling.words)) {
                advance();
                return spelling.op;
            }
        }
        return std::nullopt;
    }

    Error failure(std::size_t at, std::string message) const {
        return error_at(condition_, at, std::move(message));
    }

    // The check's refusal with its place.
    Result<Expression> placed(std::size_t at, Result<Expression> checked) const {
        if (checked.ok()) {
            return checked;
        }
        const Error placed_error = failure(at, checked.error().message());
        return Error(checked.error().code(), placed_error.message());
    }

    std::string unexpected() const {
        if (word().kind == TokenKind::kEnd) {
            return "something is missing at the end";
        }
        if (is_keyword("similar") || is_symbol("~")) {
            return "regular expressions are for `dyetrace sql`; use GLOB or LIKE";
        }
        return fmt::format("'{}' is not expected here", word().text);
    }

    Result<Expression> disjunction_as_condition() {
        const std::size_t at = word().at;
        TRY(Operand operand, disjunction());
        return placed(at, checked_condition(std::move(operand.expression)));
    }

    using Level = Result<Operand> (Parser::*)();

    // a AND b AND c: one node.
    Result<Operand> chain(std::string_view keyword, Operator op, Level below) {
        const std::size_t at = word().at;
        TRY(Operand first, (this->*below)());
        if (!is_keyword(keyword)) {
            return first;
        }
        TRY(Expression first_condition, placed(at, checked_condition(std::move(first.expression))));
        std::vector<Expression> operands{std::move(first_condition)};
        while (take_keyword(keyword)) {
            const std::size_t operand_at = word().at;
            TRY(Operand operand, (this->*below)());
            TRY(Expression checked,
                placed(operand_at, checked_condition(std::move(operand.expression))));
            operands.push_back(std::move(checked));
        }
        return Operand{condition(op, std::move(operands))};
    }

    Result<Operand> disjunction() {
        const Depth depth(depth_);
        if (depth_ > kDepthMax) {
            return Error(
                failure(word().at, fmt::format("conditions nest at most {} deep", kDepthMax)));
        }
        return chain("or", Operator::kOr, &Parser::conjunction);
    }
    Result<Operand> conjunction() { return chain("and", Operator::kAnd, &Parser::inversion); }

    Result<Operand> inversion() {
        if (!take_keyword("not")) {
            return null_test();
        }
        const Depth depth(depth_);
        if (depth_ > kDepthMax) {
            return failure(word().at, fmt::format("conditions nest at most {} deep", kDepthMax));
        }
        const std::size_t at = word().at;
        TRY(Operand operand, inversion());
        TRY(Expression checked, placed(at, checked_condition(std::move(operand.expression))));
        return Operand{negation(std::move(checked))};
    }

    Result<Operand> null_test() {
        TRY(Operand operand, comparison());
        if (!is_keyword("is") && !is_keyword("isnull") && !is_keyword("notnull")) {
            return operand;
        }
        bool inverted = is_keyword("notnull");
        if (take_keyword("is")) {
            inverted = take_keyword("not");
            if (!is_keyword("null")) {
                return failure(word().at, "IS takes NULL or NOT NULL here");
            }
        }
        advance();
        if (operand.decimal) {
            operand.expression = integer_constant(0);
        }
        Expression test = condition(Operator::kIsNull, {std::move(operand.expression)});
        return Operand{inverted ? negation(std::move(test)) : std::move(test)};
    }

    Result<Operand> comparison() {
        TRY(Operand left, membership());
        const std::size_t at = word().at;
        const auto op = take_operator(kComparisons);
        if (!op) {
            return left;
        }
        TRY(Operand right, membership());
        TRY(Expression checked,
            placed(at, checked_comparison(*op, std::move(left), std::move(right))));
        return Operand{std::move(checked)};
    }

    // Everything that may have NOT in the middle.
    Result<Operand> membership() {
        TRY(Operand subject, bits());
        const bool inverted =
            is_keyword("not") && (is_keyword("in", 1) || is_keyword("between", 1) ||
                                  is_keyword("like", 1) || is_keyword("ilike", 1));
        if (is_keyword("not") && is_keyword("glob", 1)) {
            return failure(word().at, "DuckDB has no NOT GLOB: write NOT (path GLOB '...')");
        }
        if (inverted) {
            advance();
        }
        const std::size_t at = word().at;
        Result<Expression> found = null_constant();
        if (take_keyword("between")) {
            found = between(at, std::move(subject));
        } else if (take_keyword("in")) {
            found = in_list(at, subject);
        } else if (is_keyword("like") || is_keyword("ilike") || is_keyword("glob")) {
            found = pattern(std::move(subject));
        } else {
            return subject;
        }
        TRY(Expression tested, std::move(found));
        return Operand{inverted ? negation(std::move(tested)) : std::move(tested)};
    }

    Result<Expression> between(std::size_t at, Operand subject) {
        TRY(Operand low, bits());
        if (!take_keyword("and")) {
            return failure(word().at, "BETWEEN a AND b: its AND is missing");
        }
        TRY(Operand high, bits());
        TRY(Expression from,
            placed(at, checked_comparison(Operator::kGreaterEqual, subject, std::move(low))));
        TRY(Expression to,
            placed(at,
                   checked_comparison(Operator::kLessEqual, std::move(subject), std::move(high))));
        return condition(Operator::kAnd, {std::move(from), std::move(to)});
    }

    Result<Expression> in_list(std::size_t at, const Operand& subject) {
        TRY(expect_symbol("("));
        std::vector<Operand> list;
        do {
            TRY(Operand item, bits());
            list.push_back(std::move(item));
        } while (take_symbol(","));
        TRY(expect_symbol(")"));
        return placed(at, checked_in(subject, std::move(list)));
    }

    Result<Expression> pattern(Operand subject) {
        const std::size_t at = word().at;
        const Operator op = is_keyword("like")    ? Operator::kLike
                            : is_keyword("ilike") ? Operator::kIlike
                                                  : Operator::kGlob;
        advance();
        TRY(Operand text, bits());
        std::optional<char> escape;
        if (op != Operator::kGlob && take_keyword("escape")) {
            if (word().kind != TokenKind::kText || word().text.size() > 1) {
                return failure(word().at, "ESCAPE takes one ASCII character in single quotes");
            }
            if (!word().text.empty()) {
                escape = word().text[0];
            }
            advance();
        }
        return placed(at,
                      checked_text_condition(
                          op, std::move(subject.expression), std::move(text.expression), escape));
    }

    Result<Operand> bits() { return calculation(kBits, &Parser::sum); }
    Result<Operand> sum() { return calculation(kSums, &Parser::product); }
    Result<Operand> product() { return calculation(kProducts, &Parser::primary); }

    template <std::size_t Size>
    Result<Operand> calculation(const std::array<Spelling, Size>& spellings, Level below) {
        TRY(Operand left, (this->*below)());
        for (std::size_t steps = 0;; ++steps) {
            const std::size_t at = word().at;
            const bool shift_left = is_symbol("<<");
            const auto op = take_operator(spellings);
            if (!op) {
                return left;
            }
            TRY(Operand right, (this->*below)());
            if (steps == kDepthMax) {
                return failure(at, fmt::format("a calculation has at most {} steps", kDepthMax));
            }
            if (shift_left) {  // x << 3 is x * 8
                const Expression& by = right.expression;
                if (!by.is_constant() || by.type != Type::kInteger || by.integer() < 0 ||
                    by.integer() > 63) {
                    return failure(at, "a shift is by a constant from 0 to 63");
                }
                right = Operand{integer_constant(Integer{1} << static_cast<int>(by.integer()))};
            }
            TRY(Expression checked,
                placed(at, checked_arithmetic(*op, std::move(left), std::move(right))));
            left = Operand{std::move(checked)};
        }
    }

    Result<Operand> primary() {
        nodes_ += 1;
        if (nodes_ > kNodesMax) {
            return failure(
                word().at,
                fmt::format("a condition has at most {} columns and constants", kNodesMax));
        }
        const Token token = word();
        if (token.kind == TokenKind::kInteger || token.kind == TokenKind::kDecimal ||
            is_symbol("-") || is_symbol("+")) {
            return number();
        }
        if (token.kind == TokenKind::kText) {
            advance();
            return Operand{text_constant(token.text)};
        }
        if (take_symbol("(")) {
            TRY(Operand inner, disjunction());
            TRY(expect_symbol(")"));
            return inner;
        }
        if (token.kind == TokenKind::kName || token.kind == TokenKind::kQuotedName) {
            return named(token);
        }
        return failure(
            token.at,
            token.kind == TokenKind::kEnd
                ? unexpected()
                : fmt::format("a column or a constant is missing before '{}'", token.text));
    }

    Result<Operand> number() {
        bool negative = false;
        const std::size_t at = word().at;
        while (is_symbol("-") || is_symbol("+")) {
            negative ^= is_symbol("-");
            advance();
        }
        const Token token = word();
        if (token.kind != TokenKind::kInteger && token.kind != TokenKind::kDecimal) {
            return failure(at, "a sign stands before a number only; write 0 - x");
        }
        advance();
        const Integer value = negative ? -token.number : token.number;
        if (token.kind == TokenKind::kInteger) {
            return Operand{integer_constant(value)};
        }
        // The type for the checks; the value is beside it.
        return Operand{integer_constant(0), true, value, token.scale};
    }

    Result<Operand> named(const Token& token) {
        if (token.kind == TokenKind::kName) {
            if (take_keyword("null")) return Operand{null_constant()};
            if (take_keyword("true")) return Operand{boolean_constant(true)};
            if (take_keyword("false")) return Operand{boolean_constant(false)};
            if (take_keyword("cast")) return wide_cast();
            if (is_reserved(token.text)) {
                return failure(
                    token.at,
                    fmt::format("a column or a constant is missing before '{}'", token.text));
            }
            if (word(1).kind == TokenKind::kSymbol && word(1).text == "(") {
                return function(token);
            }
        }
        advance();
        if (is_symbol(".")) {
            return failure(token.at, "a column stands alone: all columns are those of events");
        }
        TRY(Expression column, placed(token.at, checked_column(token.text, row_)));
        return Operand{std::move(column)};
    }

    // CAST(x AS HUGEINT), which to_sql() writes so that DuckDB does not overflow either.
    Result<Operand> wide_cast() {
        const std::size_t at = word().at;
        TRY(expect_symbol("("));
        TRY(Operand operand, bits());
        if (!take_keyword("as") || !take_keyword("hugeint")) {
            return failure(at, "only CAST(x AS HUGEINT) is known here");
        }
        TRY(expect_symbol(")"));
        if (operand.decimal || operand.expression.type != Type::kInteger) {
            return failure(at, "only a whole number can be cast to HUGEINT here");
        }
        return operand;
    }

    Result<Operand> function(const Token& name) {
        for (const Spelling& spelling : kFunctions) {
            if (!same_word(name.text, spelling.words)) {
                continue;
            }
            advance();
            TRY(expect_symbol("("));
            TRY(Operand subject, bits());
            TRY(expect_symbol(","));
            TRY(Operand text, bits());
            TRY(expect_symbol(")"));
            TRY(Expression checked,
                placed(name.at,
                       checked_text_condition(spelling.op,
                                              std::move(subject.expression),
                                              std::move(text.expression),
                                              std::nullopt)));
            return Operand{std::move(checked)};
        }
        if (same_word(name.text, kPowerOfTwo)) {
            advance();
            TRY(expect_symbol("("));
            TRY(Operand of, bits());
            TRY(expect_symbol(")"));
            TRY(Expression checked,
                placed(name.at,
                       checked_arithmetic(
                           Operator::kPowerOfTwo, std::move(of), Operand{integer_constant(2)})));
            return Operand{std::move(checked)};
        }
        if (name.text.starts_with("regexp")) {
            return failure(name.at, "regular expressions are for `dyetrace sql`; use GLOB or LIKE");
        }
        return failure(
            name.at,
            fmt::format(
                "there is no function '{}' in conditions; starts_with, ends_with, contains and "
                "power_of_two are",
                name.text));
    }

    class Depth {
      public:
        explicit Depth(std::size_t& depth) : depth_(depth) { depth_ += 1; }
        ~Depth() { depth_ -= 1; }
        Depth(const Depth&) = delete;
        Depth& operator=(const Depth&) = delete;

      private:
        std::size_t& depth_;
    };

    std::string_view condition_;
    std::vector<Token> tokens_;
    const RowLayout* row_;
    std::size_t next_ = 0;
    std::size_t depth_ = 0;
    std::size_t nodes_ = 0;
};

}  // namespace

Result<Expression> parse_condition(std::string_view condition, const RowLayout* row) {
    TRY(std::vector<Token> tokens, tokens_of(condition));
    return Parser(condition, std::move(tokens), row).whole();
}

Result<Expression> parse_value(std::string_view value, const RowLayout* row) {
    TRY(std::vector<Token> tokens, tokens_of(value));
    return Parser(value, std::move(tokens), row).whole_value();
}

}  // namespace dyetrace::filter
