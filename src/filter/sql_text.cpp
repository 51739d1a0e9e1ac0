#include "filter/sql_text.h"

#include <algorithm>
#include <string_view>

namespace dyetrace::filter {

std::string digits(Integer value) {
    if (value < 0) {
        return "-" + digits(-value);
    }
    std::string out;
    do {
        out.push_back(static_cast<char>('0' + static_cast<int>(value % 10)));
        value /= 10;
    } while (value > 0);
    std::reverse(out.begin(), out.end());
    return out;
}

namespace {

std::string text_literal(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        out.append(c == '\'' ? 2 : 1, c);
    }
    return out + "'";
}

std::string_view symbol(Operator op) {
    switch (op) {
        case Operator::kAnd:
            return " AND ";
        case Operator::kOr:
            return " OR ";
        case Operator::kEqual:
            return " = ";
        case Operator::kNotEqual:
            return " <> ";
        case Operator::kLess:
            return " < ";
        case Operator::kLessEqual:
            return " <= ";
        case Operator::kGreater:
            return " > ";
        case Operator::kGreaterEqual:
            return " >= ";
        case Operator::kIn:
            return " IN ";
        case Operator::kLike:
            return " LIKE ";
        case Operator::kIlike:
            return " ILIKE ";
        case Operator::kGlob:
            return " GLOB ";
        case Operator::kStartsWith:
            return "starts_with";
        case Operator::kEndsWith:
            return "ends_with";
        case Operator::kContains:
            return "contains";
        case Operator::kAdd:
            return " + ";
        case Operator::kSubtract:
            return " - ";
        case Operator::kMultiply:
            return " * ";
        case Operator::kModulo:
            return " % ";
        case Operator::kDivide:
            return " // ";
        case Operator::kBitAnd:
            return " & ";
        case Operator::kBitOr:
            return " | ";
        case Operator::kShiftRight:
            return " >> ";
        default:
            return "";
    }
}

std::string constant_text(const Constant& constant) {
    if (const auto* boolean = std::get_if<bool>(&constant)) {
        return *boolean ? "TRUE" : "FALSE";
    }
    if (const auto* integer = std::get_if<Integer>(&constant)) {
        return digits(*integer);
    }
    const auto* text = std::get_if<std::string>(&constant);
    return text != nullptr ? text_literal(*text) : "NULL";
}

// Something that binds as tight as a name: in parentheses unless it is one.
std::string tight(const Expression& e) {
    return e.is_constant() || is_leaf(e) ? sql_text(e) : "(" + sql_text(e) + ")";
}

// Calculated in 128 bits, so that DuckDB does not stop where a column's own type overflows.
std::string wide(const Expression& e) {
    return is_leaf(e) ? "CAST(" + sql_text(e) + " AS HUGEINT)" : tight(e);
}

std::string list_text(const Expression& e, std::string_view word) {
    std::string out = tight(e.operands[0]);
    out += word;
    for (std::size_t i = 1; i < e.operands.size(); ++i) {
        out += (i == 1 ? "(" : ", ") + constant_text(e.operands[i].constant);
    }
    return out + ")";
}

std::string pattern_text(const Expression& e, std::string_view word) {
    std::string out = tight(e.operands[0]) + std::string(word) + tight(e.operands[1]);
    if (e.escape) {
        out += " ESCAPE " + text_literal(std::string_view(&*e.escape, 1));
    }
    return out;
}

std::string not_text(const Expression& operand) {
    switch (operand.op) {
        case Operator::kIn:
            return list_text(operand, " NOT IN ");
        case Operator::kLike:
            return pattern_text(operand, " NOT LIKE ");
        case Operator::kIlike:
            return pattern_text(operand, " NOT ILIKE ");
        case Operator::kIsNull:
            return tight(operand.operands[0]) + " IS NOT NULL";
        default:
            return "NOT " + tight(operand);
    }
}

std::string junction_text(const Expression& e) {
    std::string out;
    for (const Expression& operand : e.operands) {
        out += out.empty() ? "" : symbol(e.op);
        const bool junction = operand.op == Operator::kAnd || operand.op == Operator::kOr;
        out += junction ? tight(operand) : sql_text(operand);
    }
    return out;
}

}  // namespace

std::string quoted_name(std::string_view name) {
    std::string quoted = "\"";
    for (const char c : name) {
        quoted += c == '"' ? "\"\"" : std::string(1, c);
    }
    return quoted + "\"";
}

std::string sql_text(const Expression& e) {
    switch (e.op) {
        case Operator::kConstant:
            return constant_text(e.constant);
        case Operator::kColumn:
            return std::string(info_of(e.column).name);
        case Operator::kField:
            return quoted_name(e.field->name);
        case Operator::kAnd:
        case Operator::kOr:
            return junction_text(e);
        case Operator::kNot:
            return not_text(e.operands[0]);
        case Operator::kIsNull:
            return tight(e.operands[0]) + " IS NULL";
        case Operator::kIn:
            return list_text(e, symbol(e.op));
        case Operator::kLike:
        case Operator::kIlike:
        case Operator::kGlob:
            return pattern_text(e, symbol(e.op));
        case Operator::kStartsWith:
        case Operator::kEndsWith:
        case Operator::kContains:
            return std::string(symbol(e.op)) + "(" + tight(e.operands[0]) + ", " +
                   tight(e.operands[1]) + ")";
        default:
            break;
    }
    if (e.op == Operator::kPowerOfTwo) {
        return "power_of_two(" + wide(e.operands[0]) + ")";
    }
    if (is_arithmetic(e.op)) {
        return wide(e.operands[0]) + std::string(symbol(e.op)) + wide(e.operands[1]);
    }
    return tight(e.operands[0]) + std::string(symbol(e.op)) + tight(e.operands[1]);
}

}  // namespace dyetrace::filter
