#include "filter/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

#include "base/spelling.h"
#include "filter/text_match.h"

namespace dyetrace::filter {
namespace {

using schema::EventColumn;

Error refusal(std::string message) {
    return Error(ErrorCode::kInvalidArgument, std::move(message));
}

std::string_view name_of(Type type) {
    constexpr std::array<std::string_view, 4> kNames{"NULL", "a condition", "a number", "text"};
    return kNames[static_cast<std::size_t>(type)];
}

std::string described(const Operand& operand) {
    const Expression& e = operand.expression;
    if (e.op == Operator::kColumn) {
        return fmt::format("'{}' is {}",
                           info_of(e.column).name,
                           e.type == Type::kBoolean ? "true or false" : name_of(e.type));
    }
    if (e.op == Operator::kField) {
        return fmt::format("'{}' is {}", e.field->name, name_of(e.type));
    }
    return fmt::format("{} is {}",
                       operand.decimal || e.is_constant() ? "the constant" : "the other side",
                       name_of(e.type));
}

bool comparable(const Operand& left, const Operand& right) {
    const Type a = left.expression.type;
    const Type b = right.expression.type;
    return a == b || a == Type::kNull || b == Type::kNull;
}

Error not_comparable(const Operand& left, const Operand& right) {
    std::string hint;
    const auto is_text_constant = [](const Operand& o) {
        return o.expression.is_constant() && o.expression.type == Type::kText;
    };
    if (is_text_constant(left) != is_text_constant(right)) {
        hint = "; leave out the quotes";
    } else if (left.expression.type == Type::kText || right.expression.type == Type::kText) {
        hint = "; put text in single quotes";
    }
    return refusal(fmt::format("{} but {}{}", described(left), described(right), hint));
}

Integer power_of_ten(unsigned exponent) {
    Integer power = 1;
    for (; exponent > 0; --exponent) {
        power *= 10;
    }
    return power;
}

// x = 1.5 is FALSE, or NULL where x is; x <> 1.5 the opposite.
Expression never(Expression subject, bool value) {
    Expression is_null = condition(Operator::kIsNull, {std::move(subject)});
    if (value) {
        return condition(Operator::kOr, {negation(std::move(is_null)), null_constant()});
    }
    return condition(Operator::kAnd, {std::move(is_null), null_constant()});
}

// A whole number beside a number with a point: compared with the whole number below it.
Expression decimal_comparison(Operator op, Expression subject, const Operand& decimal) {
    const Integer power = power_of_ten(decimal.scale);
    Integer below = decimal.unscaled / power;
    if (decimal.unscaled % power == 0) {
        return condition(op, {std::move(subject), integer_constant(below)});
    }
    below -= decimal.unscaled < 0 ? 1 : 0;
    switch (op) {
        case Operator::kEqual:
        case Operator::kNotEqual:
            return never(std::move(subject), op == Operator::kNotEqual);
        case Operator::kLess:
        case Operator::kLessEqual:
            return condition(Operator::kLessEqual, {std::move(subject), integer_constant(below)});
        default:
            return condition(Operator::kGreater, {std::move(subject), integer_constant(below)});
    }
}

// The same number without a point, when both sides are constants.
Expression scaled(const Operand& operand, unsigned scale) {
    const Integer value = operand.decimal ? operand.unscaled : operand.expression.integer();
    return integer_constant(value * power_of_ten(scale - operand.scale));
}

std::string lower(std::string_view name) {
    std::string out(name);
    std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) {
        return static_cast<char>(std::tolower(c));
    });
    return out;
}

std::string nearest_column(std::string_view name) {
    std::vector<std::string_view> columns;
    for (const auto& info : schema::event_columns()) {
        columns.push_back(info.name);
    }
    const std::string_view nearest = base::nearest_word(name, columns);
    return nearest.empty() ? "; `dyetrace sql TRACE \"DESCRIBE events\"` lists them"
                           : fmt::format(", did you mean '{}'?", nearest);
}

std::string nearest_field(std::string_view name, const RowLayout& row) {
    std::vector<std::string_view> fields;
    for (const Expression& field : row.fields()) {
        fields.push_back(field.field->name);
    }
    const std::string_view nearest = base::nearest_word(name, fields);
    return nearest.empty() ? "" : fmt::format(", did you mean '{}'?", nearest);
}

// Why a column cannot be in a condition that is decided while recording; empty: it can.
std::string_view why_not(EventColumn column) {
    switch (column) {
        case EventColumn::kTime:
            return "'time' is known only when a trace is read; use start_ns, or --duration";
        case EventColumn::kNode:
            return "'node' is a label given when a trace is read; use host, container or "
                   "network_namespace";
        default:
            return {};
    }
}

bool has_wide_character(std::string_view text) {
    return std::any_of(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

}  // namespace

Result<Expression> checked_comparison(Operator op, Operand left, Operand right) {
    if (!comparable(left, right)) {
        return not_comparable(left, right);
    }
    const bool constants = left.expression.is_constant() && right.expression.is_constant();
    const bool null = left.expression.is_null() || right.expression.is_null();
    if ((left.decimal || right.decimal) && constants && !null) {
        const unsigned scale = std::max(left.scale, right.scale);
        return condition(op, {scaled(left, scale), scaled(right, scale)});
    }
    if (right.decimal && !null) {
        return decimal_comparison(op, std::move(left.expression), right);
    }
    if (left.decimal && !null) {
        return decimal_comparison(mirrored(op), std::move(right.expression), left);
    }
    return condition(op, {std::move(left.expression), std::move(right.expression)});
}

Result<Expression> checked_in(const Operand& subject, std::vector<Operand> list) {
    std::vector<Expression> operands{subject.expression};
    for (Operand& item : list) {
        if (!item.expression.is_constant()) {
            return refusal("IN takes a list of constants; write = and OR for columns");
        }
        if (!comparable(subject, item)) {
            return not_comparable(subject, item);
        }
        if (subject.decimal) {
            return refusal("a number with a point stands beside a column, not before IN");
        }
        const Integer power = power_of_ten(item.scale);
        if (item.decimal && item.unscaled % power != 0) {
            continue;  // equals no whole number
        }
        operands.push_back(item.decimal ? integer_constant(item.unscaled / power)
                                        : std::move(item.expression));
    }
    if (operands.size() == 1) {
        return never(std::move(operands[0]), false);
    }
    return condition(Operator::kIn, std::move(operands));
}

Result<Expression> checked_text_condition(Operator op,
                                          Expression subject,
                                          Expression pattern,
                                          std::optional<char> escape) {
    if (subject.type != Type::kText && subject.type != Type::kNull) {
        return refusal(fmt::format("{}, and a pattern needs text", described({subject})));
    }
    if (!pattern.is_constant() || (pattern.type != Type::kText && pattern.type != Type::kNull)) {
        return refusal("a pattern is text in single quotes");
    }
    if (pattern.type == Type::kText) {
        if (op == Operator::kIlike && has_wide_character(pattern.text())) {
            return refusal("ILIKE takes a pattern of ASCII only; use LIKE for other letters");
        }
        if (escape && ends_in_escape(pattern.text(), *escape)) {
            return refusal("the pattern ends with its escape character");
        }
    }
    Expression out = condition(op, {std::move(subject), std::move(pattern)});
    out.escape = escape;
    return out;
}

Result<Expression> checked_arithmetic(Operator op, Operand left, Operand right) {
    for (const Operand* operand : {&left, &right}) {
        const Expression& e = operand->expression;
        if (operand->decimal) {
            return refusal("a number with a point can be compared, not calculated with");
        }
        if (e.type != Type::kInteger && e.type != Type::kNull) {
            return refusal(fmt::format("{}, and calculating needs numbers", described(*operand)));
        }
        if (e.op == Operator::kColumn && e.column == EventColumn::kWeight) {
            return refusal("'weight' can be compared, not calculated with");
        }
    }
    const Expression& shift = right.expression;
    if (op == Operator::kShiftRight &&
        (!shift.is_constant() || shift.is_null() || shift.integer() < 0 || shift.integer() > 63)) {
        return refusal("a shift is by a constant from 0 to 63");
    }
    Expression out = arithmetic(op, std::move(left.expression), std::move(right.expression));
    if (!range_of(out)) {
        return refusal("the result could be too large to calculate with");
    }
    return out;
}

Result<Expression> checked_condition(Expression operand) {
    if (operand.type != Type::kBoolean && operand.type != Type::kNull) {
        return refusal(fmt::format("{}, not a condition; compare it with something",
                                   described({std::move(operand)})));
    }
    return operand;
}

Result<Expression> checked_column(std::string_view name, const RowLayout* row) {
    if (row != nullptr) {
        const Expression* const field = row->find(name);
        return field != nullptr ? Result<Expression>(*field)
                                : refusal(fmt::format(
                                      "the probe has no '{}'{}", name, nearest_field(name, *row)));
    }
    const std::string wanted = lower(name);
    for (const auto& info : schema::event_columns()) {
        if (info.name != wanted) {
            continue;
        }
        if (const std::string_view reason = why_not(info.column); !reason.empty()) {
            return Error(ErrorCode::kUnsupported, std::string(reason));
        }
        return column_of(info.column);
    }
    return refusal(fmt::format("there is no column '{}'{}", name, nearest_column(wanted)));
}

}  // namespace dyetrace::filter
