// The tree of a condition: an immutable value that is compared, printed, evaluated and compiled.
//
//   class = 'file' AND bytes % 4096 <> 0
//
//   kAnd ─┬─ kEqual ────┬─ kColumn class        every node knows its type: boolean, integer, text,
//         │             └─ kConstant 'file'     or NULL (a constant that fits everywhere)
//         └─ kNotEqual ─┬─ kModulo ─┬─ kColumn bytes
//                       │           └─ kConstant 4096
//                       └─ kConstant 0
//
// Integers are 128 bits wide, as wide as DuckDB's HUGEINT; range_of() proves that no operation leaves them.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "schema/generated/columns.h"

namespace dyetrace::filter {

using Integer = __int128;

enum class Type : std::uint8_t { kNull, kBoolean, kInteger, kText };

enum class Operator : std::uint8_t {
    kConstant,
    kColumn,
    kField,  // of a probe's row (row.h)
    // conditions over conditions
    kAnd,  // two or more operands
    kOr,
    kNot,
    // conditions over values
    kIsNull,
    kEqual,
    kNotEqual,
    kLess,
    kLessEqual,
    kGreater,
    kGreaterEqual,
    kIn,  // operand 0 is one of the constants that follow
    // conditions over text: operand 0 by the constant that is operand 1
    kLike,
    kIlike,
    kGlob,
    kStartsWith,
    kEndsWith,
    kContains,
    // integers
    kAdd,
    kSubtract,
    kMultiply,
    kModulo,
    kDivide,  // towards zero; by zero: NULL
    kPowerOfTwo,  // the greatest that is no greater than operand 0, and 0 of what is not positive; operand 1 is the 2
    kBitAnd,
    kBitOr,
    kShiftRight,
};

using Constant = std::variant<std::monostate, bool, Integer, std::string>;

// A value of a probe's row, and where it lies there.
struct Field {
    std::string name;
    std::size_t number = 0;  // bit of the row's NULLs
    std::size_t offset = 0;  // byte of the row
    std::size_t bytes = 8;   // of text: with the NUL after it
    unsigned bits = 64;      // that an integer can have
    bool is_signed = false;  // an integer
    bool is_stack = false;   // text that the kernel has as a number
    bool operator==(const Field&) const = default;
};

struct Expression {
    Operator op = Operator::kConstant;
    Type type = Type::kNull;
    schema::EventColumn column{};  // of kColumn
    std::optional<Field> field;    // of kField
    std::optional<char> escape;    // of kLike and kIlike
    Constant constant;             // of kConstant
    std::vector<Expression> operands;

    bool operator==(const Expression&) const = default;

    bool is_constant() const { return op == Operator::kConstant; }
    bool is_null() const { return is_constant() && type == Type::kNull; }
    bool is_true() const {
        return is_constant() && type == Type::kBoolean && std::get<bool>(constant);
    }
    bool is_false() const {
        return is_constant() && type == Type::kBoolean && !std::get<bool>(constant);
    }
    Integer integer() const { return std::get<Integer>(constant); }
    const std::string& text() const { return std::get<std::string>(constant); }
};

Expression null_constant();
Expression boolean_constant(bool value);
Expression integer_constant(Integer value);
Expression text_constant(std::string value);
Expression column_of(schema::EventColumn column);
Expression field_of(Field field, Type type);
Expression condition(Operator op, std::vector<Expression> operands);
Expression arithmetic(Operator op, Expression left, Expression right);
Expression negation(Expression operand);

// A column or a field.
bool is_leaf(const Expression& expression);
// True or not of other expressions.
bool is_condition(const Expression& expression);
bool is_comparison(Operator op);
Operator mirrored(Operator op);  // of a comparison whose sides change places
bool is_arithmetic(Operator op);
bool is_text_condition(Operator op);  // kLike to kContains

const schema::EventColumnInfo& info_of(schema::EventColumn column);
Type type_of(schema::EventColumn column);

// All values that an integer expression can take; nothing if they may leave 128 bits.
struct Range {
    Integer least = 0;
    Integer greatest = 0;
};
std::optional<Range> range_of(const Expression& expression);

// Truth of SQL: a condition over an unknown value is unknown.
enum class Truth : std::uint8_t { kFalse, kTrue, kNull };

constexpr Truth truth_of(bool value) {
    return value ? Truth::kTrue : Truth::kFalse;
}
constexpr Truth operator!(Truth truth) {
    return truth == Truth::kNull ? truth : truth_of(truth == Truth::kFalse);
}

// A value at the moment of evaluation; text is borrowed.
struct Value {
    Type type = Type::kNull;
    Integer integer = 0;  // boolean: 0 or 1
    std::string_view text;

    static Value of(Integer integer) { return {Type::kInteger, integer, {}}; }
    static Value of(bool boolean) { return {Type::kBoolean, boolean ? 1 : 0, {}}; }
    static Value of(std::string_view text) { return {Type::kText, 0, text}; }
    static Value of(const char*) = delete;
};

// What a comparison, a text condition or an operation of arithmetic makes of values.
Value value_of(const Constant& constant);
Truth compare(Operator op, const Value& left, const Value& right);
Truth text_condition(const Expression& expression, const Value& subject);
Value calculate(Operator op, const Value& left, const Value& right);

}  // namespace dyetrace::filter
