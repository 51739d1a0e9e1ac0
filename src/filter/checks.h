// What an operator may stand between: builds a checked node or says what is wrong with the operands.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "filter/expression.h"
#include "filter/row.h"

namespace dyetrace::filter {

// An operand with what the checks need to know about how it was written. A decimal is only here, never in the tree.
struct Operand {
    Expression expression;
    bool decimal = false;
    Integer unscaled = 0;
    unsigned scale = 0;
};

// Errors have a message without the place; the parser adds it.
Result<Expression> checked_comparison(Operator op, Operand left, Operand right);
Result<Expression> checked_in(const Operand& subject, std::vector<Operand> list);
Result<Expression> checked_text_condition(Operator op,
                                          Expression subject,
                                          Expression pattern,
                                          std::optional<char> escape);
Result<Expression> checked_arithmetic(Operator op, Operand left, Operand right);
Result<Expression> checked_condition(Expression operand);  // a condition, not a value

// The column, or the field of the row where there is one; else the nearest name as a hint.
Result<Expression> checked_column(std::string_view name, const RowLayout* row);

}  // namespace dyetrace::filter
