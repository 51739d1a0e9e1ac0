#include "filter/row.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "schema/text.h"

namespace dyetrace::filter {
namespace {

Truth row_junction(const Expression& e, const RowValues& values) {
    const Truth decisive = truth_of(e.op == Operator::kOr);
    Truth result = !decisive;
    for (const Expression& operand : e.operands) {
        const Truth one = truth_of(operand, values);
        if (one == decisive) {
            return decisive;
        }
        result = one == Truth::kNull ? one : result;
    }
    return result;
}

Truth in_list(const Expression& e, const RowValues& values) {
    const Value subject = value_of(e.operands[0], values);
    Truth result = subject.type == Type::kNull ? Truth::kNull : Truth::kFalse;
    for (std::size_t i = 1; i < e.operands.size() && subject.type != Type::kNull; ++i) {
        const Truth equal = compare(Operator::kEqual, subject, value_of(e.operands[i].constant));
        if (equal == Truth::kTrue) {
            return equal;
        }
        result = equal == Truth::kNull ? equal : result;
    }
    return result;
}

}  // namespace

Result<RowLayout> RowLayout::of(const std::vector<RowColumn>& columns) {
    RowLayout layout;
    for (const RowColumn& column : columns) {
        const std::size_t bytes =
            column.type == Type::kText && !column.is_stack ? column.bytes : kWord;
        layout.fields_.push_back(field_of({.name = column.name,
                                           .number = layout.fields_.size(),
                                           .offset = layout.bytes_,
                                           .bytes = bytes,
                                           .bits = column.bits,
                                           .is_signed = column.is_signed,
                                           .is_stack = column.is_stack},
                                          column.type));
        layout.bytes_ += bytes;
    }
    if (layout.bytes_ > kRowBytesMax || columns.size() > kRowValuesMax) {
        return Error(ErrorCode::kUnsupported,
                     fmt::format("a question about a probe has room for {} values and {} bytes of "
                                 "them; text takes {}",
                                 kRowValuesMax,
                                 kRowBytesMax - kWord,
                                 kRowTextBytes));
    }
    return layout;
}

const Expression* RowLayout::find(std::string_view name) const {
    for (const Expression& field : fields_) {
        if (field.field->name == name) {
            return &field;
        }
    }
    return nullptr;
}

Value RowValues::of(const Expression& e) const {
    const Field& field = *e.field;
    if ((word_at(row_, 0) >> field.number & 1) != 0) {
        return {};
    }
    if (e.type != Type::kText || field.is_stack) {
        const std::uint64_t word = word_at(row_, field.offset);
        return Value::of(field.is_signed ? Integer{static_cast<std::int64_t>(word)}
                                         : Integer{word});
    }
    const char* const text = reinterpret_cast<const char*>(row_.data() + field.offset);
    text_ = schema::escaped({text, strnlen(text, field.bytes)});
    return Value::of(std::string_view(text_));
}

Value value_of(const Expression& e, const RowValues& values) {
    if (e.op == Operator::kConstant) {
        return value_of(e.constant);
    }
    if (e.op == Operator::kField) {
        return values.of(e);
    }
    return calculate(e.op, value_of(e.operands[0], values), value_of(e.operands[1], values));
}

Truth truth_of(const Expression& e, const RowValues& values) {
    switch (e.op) {
        case Operator::kAnd:
        case Operator::kOr:
            return row_junction(e, values);
        case Operator::kNot:
            return !truth_of(e.operands[0], values);
        case Operator::kIsNull:
            return truth_of(value_of(e.operands[0], values).type == Type::kNull);
        case Operator::kIn:
            return in_list(e, values);
        case Operator::kConstant:
        case Operator::kField: {
            const Value value = value_of(e, values);
            return value.type == Type::kNull ? Truth::kNull : truth_of(value.integer != 0);
        }
        default:
            break;
    }
    const Value left = value_of(e.operands[0], values);
    if (is_text_condition(e.op)) {
        return text_condition(e, left);
    }
    // two texts of one row would lie in the same place
    const std::string held(left.text);
    const Value kept = left.type == Type::kText ? Value::of(std::string_view(held)) : left;
    return compare(e.op, kept, value_of(e.operands[1], values));
}

}  // namespace dyetrace::filter
