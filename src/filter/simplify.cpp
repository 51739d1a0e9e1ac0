#include "filter/simplify.h"

#include <algorithm>
#include <utility>

namespace dyetrace::filter {
namespace {

Expression constant_of(Truth truth) {
    return truth == Truth::kNull ? null_constant() : boolean_constant(truth == Truth::kTrue);
}

// AND and OR: `decisive` is FALSE for AND, TRUE for OR.
Expression simplified_junction(Operator op, std::vector<Expression> operands) {
    const bool decisive = op == Operator::kOr;
    std::vector<Expression> kept;
    bool null_kept = false;
    const auto keep = [&](Expression operand) {
        const bool constant = operand.is_true() || operand.is_false();
        if (constant || (operand.is_null() && null_kept)) {
            return;  // neutral; a decisive one was seen before
        }
        null_kept = null_kept || operand.is_null();
        kept.push_back(std::move(operand));
    };
    for (Expression& operand : operands) {
        if (decisive ? operand.is_true() : operand.is_false()) {
            return boolean_constant(decisive);
        }
        if (operand.op == op) {
            for (Expression& inner : operand.operands) {
                keep(std::move(inner));
            }
        } else {
            keep(std::move(operand));
        }
    }
    if (kept.empty()) {
        return boolean_constant(!decisive);
    }
    return kept.size() == 1 ? std::move(kept[0]) : condition(op, std::move(kept));
}

Expression simplified_not(Expression operand) {
    if (operand.is_constant()) {
        return operand.is_null() ? null_constant() : boolean_constant(operand.is_false());
    }
    if (operand.op == Operator::kNot) {
        return std::move(operand.operands[0]);
    }
    return negation(std::move(operand));
}

Expression simplified_in(Expression e) {
    if (e.operands[0].is_null()) {
        return null_constant();
    }
    if (!e.operands[0].is_constant()) {
        return e;
    }
    Truth truth = Truth::kFalse;
    const Value subject = value_of(e.operands[0].constant);
    for (std::size_t i = 1; i < e.operands.size(); ++i) {
        const Truth equal = compare(Operator::kEqual, subject, value_of(e.operands[i].constant));
        truth = equal == Truth::kTrue || truth == Truth::kTrue ? Truth::kTrue
                : equal == Truth::kNull                        ? Truth::kNull
                                                               : truth;
    }
    return constant_of(truth);
}

// 5 < x is x > 5, and 2 * x is x * 2: a constant stands on the right.
void turn_round(Expression& e) {
    const bool either_way = is_comparison(e.op) || e.op == Operator::kAdd ||
                            e.op == Operator::kMultiply || e.op == Operator::kBitAnd ||
                            e.op == Operator::kBitOr;
    if (!either_way || !e.operands[0].is_constant() || e.operands[1].is_constant()) {
        return;
    }
    std::swap(e.operands[0], e.operands[1]);
    e.op = mirrored(e.op);
}

// Constants on both sides, or a NULL on one.
Expression simplified_values(Expression e) {
    turn_round(e);
    const Expression& left = e.operands[0];
    const Expression& right = e.operands[1];
    if (left.is_null() || right.is_null()) {
        return null_constant();
    }
    if (!left.is_constant() || !right.is_constant()) {
        return e;
    }
    if (is_arithmetic(e.op)) {
        const Value value = calculate(e.op, value_of(left.constant), value_of(right.constant));
        return value.type == Type::kNull ? null_constant() : integer_constant(value.integer);
    }
    if (is_comparison(e.op)) {
        return constant_of(compare(e.op, value_of(left.constant), value_of(right.constant)));
    }
    return constant_of(text_condition(e, value_of(left.constant)));
}

}  // namespace

Expression simplified(Expression e) {
    for (Expression& operand : e.operands) {
        operand = simplified(std::move(operand));
    }
    switch (e.op) {
        case Operator::kConstant:
        case Operator::kColumn:
        case Operator::kField:
            return e;
        case Operator::kAnd:
        case Operator::kOr:
            return simplified_junction(e.op, std::move(e.operands));
        case Operator::kNot:
            return simplified_not(std::move(e.operands[0]));
        case Operator::kIsNull:
            return e.operands[0].is_constant() ? boolean_constant(e.operands[0].is_null())
                                               : std::move(e);
        case Operator::kIn:
            return simplified_in(std::move(e));
        default:
            return simplified_values(std::move(e));
    }
}

Expression simplified_condition(Expression expression) {
    Expression e = simplified(std::move(expression));
    return e.is_null() ? boolean_constant(false) : e;
}

}  // namespace dyetrace::filter
