#include "filter/expression.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "filter/text_match.h"

namespace dyetrace::filter {
namespace {

// A bound that keeps sums and shifts of two operands inside 127 bits.
constexpr Integer kRangeMax = Integer{1} << 126;

std::optional<Range> limited(Integer least, Integer greatest) {
    if (least < -kRangeMax || greatest > kRangeMax) {
        return std::nullopt;
    }
    return Range{least, greatest};
}

Range range_of_column(schema::EventColumn column) {
    constexpr Integer kOne = 1;
    switch (info_of(column).type) {
        case schema::SqlType::kInteger:
            return {-(kOne << 31), (kOne << 31) - 1};
        case schema::SqlType::kDouble:
            return {1, 1};  // weight
        default:
            return {-(kOne << 63), (kOne << 63) - 1};
    }
}

std::optional<Range> range_of_product(Range a, Range b) {
    Integer least = 0;
    Integer greatest = 0;
    bool first = true;
    for (const Integer x : {a.least, a.greatest}) {
        for (const Integer y : {b.least, b.greatest}) {
            Integer product = 0;
            if (__builtin_mul_overflow(x, y, &product)) {
                return std::nullopt;
            }
            least = first ? product : std::min(least, product);
            greatest = first ? product : std::max(greatest, product);
            first = false;
        }
    }
    return limited(least, greatest);
}

// The smallest 2^n - 1 that is not below any of the four bounds or their complements.
Integer all_ones_above(Range a, Range b) {
    const auto magnitude = [](Integer v) { return v < 0 ? -(v + 1) : v; };
    const Integer largest = std::max(std::max(magnitude(a.least), magnitude(a.greatest)),
                                     std::max(magnitude(b.least), magnitude(b.greatest)));
    Integer ones = 0;
    while (ones < largest) {
        ones = ones * 2 + 1;
    }
    return ones;
}

std::optional<Range> range_of_bits(Operator op, Range a, Range b) {
    const Integer ones = all_ones_above(a, b);
    if (op == Operator::kBitAnd && (a.least >= 0 || b.least >= 0)) {
        const Integer limit_a = a.least >= 0 ? a.greatest : ones;
        const Integer limit_b = b.least >= 0 ? b.greatest : ones;
        return limited(0, std::min(limit_a, limit_b));
    }
    const bool negative = a.least < 0 || b.least < 0;
    return limited(negative ? -ones - 1 : 0, ones);
}

Range range_of_remainder(Range a, Range b) {
    const auto magnitude = [](Integer v) { return v < 0 ? -v : v; };
    const Integer limit = std::max(magnitude(b.least), magnitude(b.greatest));
    return {a.least < 0 ? std::max(a.least, -limit) : 0,
            a.greatest > 0 ? std::min(a.greatest, limit) : 0};
}

Range range_of_quotient(Range left, Range right) {
    if (right.least > 0) {
        return {left.least / (left.least < 0 ? right.least : right.greatest),
                left.greatest / (left.greatest > 0 ? right.least : right.greatest)};
    }
    const Integer greatest = std::max(left.greatest, -left.least);
    return {-greatest, greatest};
}

}  // namespace

Expression null_constant() {
    return {};
}

Expression boolean_constant(bool value) {
    Expression e;
    e.type = Type::kBoolean;
    e.constant = value;
    return e;
}

Expression integer_constant(Integer value) {
    Expression e;
    e.type = Type::kInteger;
    e.constant = value;
    return e;
}

Expression text_constant(std::string value) {
    Expression e;
    e.type = Type::kText;
    e.constant = std::move(value);
    return e;
}

Expression column_of(schema::EventColumn column) {
    Expression e;
    e.op = Operator::kColumn;
    e.type = type_of(column);
    e.column = column;
    return e;
}

Expression field_of(Field field, Type type) {
    Expression e;
    e.op = Operator::kField;
    e.type = type;
    e.field = std::move(field);
    return e;
}

Expression condition(Operator op, std::vector<Expression> operands) {
    Expression e;
    e.op = op;
    e.type = Type::kBoolean;
    e.operands = std::move(operands);
    return e;
}

Expression arithmetic(Operator op, Expression left, Expression right) {
    Expression e = condition(op, {});
    e.type = Type::kInteger;
    e.operands.push_back(std::move(left));
    e.operands.push_back(std::move(right));
    return e;
}

Expression negation(Expression operand) {
    std::vector<Expression> operands;
    operands.push_back(std::move(operand));
    return condition(Operator::kNot, std::move(operands));
}

bool is_leaf(const Expression& expression) {
    return expression.op == Operator::kColumn || expression.op == Operator::kField;
}
bool is_condition(const Expression& expression) {
    return expression.type == Type::kBoolean && !expression.is_constant() && !is_leaf(expression);
}
bool is_comparison(Operator op) {
    return op >= Operator::kEqual && op <= Operator::kGreaterEqual;
}
bool is_arithmetic(Operator op) {
    return op >= Operator::kAdd;
}
bool is_text_condition(Operator op) {
    return op >= Operator::kLike && op <= Operator::kContains;
}

Operator mirrored(Operator op) {
    switch (op) {
        case Operator::kLess:
            return Operator::kGreater;
        case Operator::kLessEqual:
            return Operator::kGreaterEqual;
        case Operator::kGreater:
            return Operator::kLess;
        case Operator::kGreaterEqual:
            return Operator::kLessEqual;
        default:
            return op;
    }
}

const schema::EventColumnInfo& info_of(schema::EventColumn column) {
    return schema::event_columns()[static_cast<std::size_t>(column)];
}

Type type_of(schema::EventColumn column) {
    switch (info_of(column).type) {
        case schema::SqlType::kVarchar:
            return Type::kText;
        case schema::SqlType::kBoolean:
            return Type::kBoolean;
        default:
            return Type::kInteger;
    }
}

std::optional<Range> range_of(const Expression& e) {
    if (e.is_constant()) {
        return e.type == Type::kInteger ? limited(e.integer(), e.integer()) : Range{};
    }
    if (e.op == Operator::kColumn) {
        return range_of_column(e.column);
    }
    if (e.op == Operator::kField) {
        const Integer count = Integer{1} << e.field->bits;
        return e.field->is_signed ? Range{-count / 2, count / 2 - 1} : Range{0, count - 1};
    }
    CHECK(is_arithmetic(e.op));
    const auto left = range_of(e.operands[0]);
    const auto right = range_of(e.operands[1]);
    if (!left || !right) {
        return std::nullopt;
    }
    switch (e.op) {
        case Operator::kAdd:
            return limited(left->least + right->least, left->greatest + right->greatest);
        case Operator::kSubtract:
            return limited(left->least - right->greatest, left->greatest - right->least);
        case Operator::kMultiply:
            return range_of_product(*left, *right);
        case Operator::kModulo:
            return range_of_remainder(*left, *right);
        case Operator::kDivide:
            return range_of_quotient(*left, *right);
        case Operator::kPowerOfTwo:
            return Range{0, std::max(left->greatest, Integer{0})};
        case Operator::kShiftRight:
            return Range{std::min(left->least, Integer{0}), std::max(left->greatest, Integer{0})};
        default:
            return range_of_bits(e.op, *left, *right);
    }
}

Value value_of(const Constant& constant) {
    if (const auto* boolean = std::get_if<bool>(&constant)) {
        return Value::of(*boolean);
    }
    if (const auto* integer = std::get_if<Integer>(&constant)) {
        return Value::of(*integer);
    }
    if (const auto* text = std::get_if<std::string>(&constant)) {
        return Value::of(std::string_view(*text));
    }
    return {};
}

Truth compare(Operator op, const Value& left, const Value& right) {
    if (left.type == Type::kNull || right.type == Type::kNull) {
        return Truth::kNull;
    }
    const std::strong_ordering order =
        left.type == Type::kText       ? left.text.compare(right.text) <=> 0
        : left.integer < right.integer ? std::strong_ordering::less
        : left.integer > right.integer ? std::strong_ordering::greater
                                       : std::strong_ordering::equal;
    switch (op) {
        case Operator::kEqual:
            return truth_of(order == 0);
        case Operator::kNotEqual:
            return truth_of(order != 0);
        case Operator::kLess:
            return truth_of(order < 0);
        case Operator::kLessEqual:
            return truth_of(order <= 0);
        case Operator::kGreater:
            return truth_of(order > 0);
        default:
            return truth_of(order >= 0);
    }
}

Truth text_condition(const Expression& expression, const Value& subject) {
    if (subject.type == Type::kNull || expression.operands[1].is_null()) {
        return Truth::kNull;
    }
    const std::string_view text = subject.text;
    const std::string_view pattern = expression.operands[1].text();
    switch (expression.op) {
        case Operator::kLike:
            return truth_of(like(text, pattern, expression.escape));
        case Operator::kIlike:
            return truth_of(ilike(text, pattern, expression.escape));
        case Operator::kGlob:
            return truth_of(glob(text, pattern));
        case Operator::kStartsWith:
            return truth_of(text.starts_with(pattern));
        case Operator::kEndsWith:
            return truth_of(text.ends_with(pattern));
        default:
            return truth_of(text.find(pattern) != std::string_view::npos);
    }
}

static Integer power_of_two(Integer number) {
    Integer power = number > 0 ? 1 : 0;
    while (power > 0 && power <= number / 2) {
        power *= 2;
    }
    return power;
}

Value calculate(Operator op, const Value& left, const Value& right) {
    if (left.type == Type::kNull || right.type == Type::kNull) {
        return {};
    }
    const Integer a = left.integer;
    const Integer b = right.integer;
    switch (op) {
        case Operator::kAdd:
            return Value::of(a + b);
        case Operator::kSubtract:
            return Value::of(a - b);
        case Operator::kMultiply:
            return Value::of(a * b);
        case Operator::kModulo:
            return b == 0 ? Value{} : Value::of(a % b);
        case Operator::kDivide:
            return b == 0 ? Value{} : Value::of(a / b);
        case Operator::kPowerOfTwo:
            return Value::of(power_of_two(a));
        case Operator::kBitAnd:
            return Value::of(a & b);
        case Operator::kBitOr:
            return Value::of(a | b);
        default:
            return Value::of(a >> static_cast<int>(b));
    }
}

}  // namespace dyetrace::filter
