#include "query/live/condition_text.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "filter/sql_text.h"

namespace dyetrace::query {
namespace {

using base::Json;
using Text = std::optional<std::string>;
using Spelling = std::pair<std::string_view, std::string_view>;

constexpr std::array<Spelling, 6> kComparisons{{{"COMPARE_EQUAL", "="},
                                                {"COMPARE_NOTEQUAL", "<>"},
                                                {"COMPARE_LESSTHAN", "<"},
                                                {"COMPARE_GREATERTHAN", ">"},
                                                {"COMPARE_LESSTHANOREQUALTO", "<="},
                                                {"COMPARE_GREATERTHANOREQUALTO", ">="}}};
constexpr std::array<Spelling, 14> kOperators{{{"+", "+"},
                                               {"//", "//"},
                                               {"-", "-"},
                                               {"*", "*"},
                                               {"%", "%"},
                                               {"&", "&"},
                                               {"|", "|"},
                                               {">>", ">>"},
                                               {"<<", "<<"},
                                               {"~~", "LIKE"},
                                               {"~~*", "ILIKE"},
                                               {"~~~", "GLOB"},
                                               {"!~~", "NOT LIKE"},
                                               {"!~~*", "NOT ILIKE"}}};
constexpr std::array<std::string_view, 5> kFunctions{
    "starts_with", "prefix", "ends_with", "suffix", "contains"};

template <std::size_t size>
std::string_view spelling_of(const std::array<Spelling, size>& spellings, std::string_view name) {
    for (const auto& [theirs, ours] : spellings) {
        if (theirs == name) {
            return ours;
        }
    }
    return {};
}

Text constant_text(const Json& tree) {
    const Json* const value = tree.find("value");
    const Json* const type = value == nullptr ? nullptr : value->find("type");
    if (type == nullptr) {
        return std::nullopt;
    }
    if (value->get<bool>("is_null").value_or(false)) {
        return "NULL";
    }
    const Json* const held = value->find("value");
    const std::string id = text_at(*type, "id");
    if (held == nullptr) {
        return std::nullopt;
    }
    if (id == "BOOLEAN" || id == "INTEGER" || id == "BIGINT" || id == "UBIGINT") {
        return held->text();
    }
    if (id != "VARCHAR") {
        return std::nullopt;
    }
    std::string quoted = "'";
    for (const char c : held->as<std::string>().value_or("")) {
        quoted += c;
        if (c == '\'') {
            quoted += c;
        }
    }
    return quoted + "'";
}

Text joined(const std::vector<Json>& children, std::string_view separator) {
    std::string text;
    for (const Json& child : children) {
        const Text part = condition_text(child);
        if (!part) {
            return std::nullopt;
        }
        text += (text.empty() ? "" : std::string(separator)) + *part;
    }
    return text.empty() ? std::nullopt : Text("(" + text + ")");
}

Text pair_text(const Json* left, std::string_view between, const Json* right) {
    const Text a = left == nullptr ? std::nullopt : condition_text(*left);
    const Text b = right == nullptr ? std::nullopt : condition_text(*right);
    return a && b && !between.empty() ? Text(fmt::format("({} {} {})", *a, between, *b))
                                      : std::nullopt;
}

Text function_text(const Json& tree) {
    const std::string name = text_at(tree, "function_name");
    const std::vector<Json>& children = tree.items_at("children");
    if (children.size() == 1 && name == "power_of_two") {
        const Text of = condition_text(children[0]);
        return of ? Text(fmt::format("{}({})", name, *of)) : std::nullopt;
    }
    if (children.size() == 2) {
        for (const std::string_view known : kFunctions) {
            const Text list = known == name ? joined(children, ", ") : std::nullopt;
            if (list) {
                return name + *list;
            }
        }
        return pair_text(&children[0], spelling_of(kOperators, name), &children[1]);
    }
    return std::nullopt;
}

Text operator_text(const Json& tree, std::string_view type) {
    const std::vector<Json>& children = tree.items_at("children");
    const Text first = children.empty() ? std::nullopt : condition_text(children[0]);
    if (!first) {
        return std::nullopt;
    }
    if (type == "OPERATOR_NOT") {
        return "(NOT " + *first + ")";
    }
    if (type == "OPERATOR_IS_NULL" || type == "OPERATOR_IS_NOT_NULL") {
        return fmt::format("({} IS {}NULL)", *first, type == "OPERATOR_IS_NULL" ? "" : "NOT ");
    }
    if (type == "COMPARE_IN" || type == "COMPARE_NOT_IN") {
        const Text list = joined({children.begin() + 1, children.end()}, ", ");
        return list ? Text(fmt::format(
                          "({} {}IN {})", *first, type == "COMPARE_IN" ? "" : "NOT ", *list))
                    : std::nullopt;
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> condition_text(const Json& tree) {
    const std::string kind = text_at(tree, "class"), type = text_at(tree, "type");
    if (kind == "COLUMN_REF") {
        const std::vector<Json>& names = tree.items_at("column_names");
        const Text name = names.empty() ? std::nullopt : names.back().as<std::string>();
        return name ? Text(filter::quoted_name(*name)) : std::nullopt;
    }
    if (kind == "CONSTANT") {
        return constant_text(tree);
    }
    if (kind == "CONJUNCTION") {
        return joined(tree.items_at("children"), type == "CONJUNCTION_AND" ? " AND " : " OR ");
    }
    if (kind == "COMPARISON") {
        return pair_text(tree.find("left"), spelling_of(kComparisons, type), tree.find("right"));
    }
    if (kind == "BETWEEN") {
        const Json* const input = tree.find("input");
        const Text lower = pair_text(input, ">=", tree.find("lower"));
        const Text upper = pair_text(input, "<=", tree.find("upper"));
        return lower && upper ? Text(fmt::format("({} AND {})", *lower, *upper)) : std::nullopt;
    }
    if (kind == "FUNCTION") {
        return function_text(tree);
    }
    return kind == "OPERATOR" ? operator_text(tree, type) : std::nullopt;
}

}  // namespace dyetrace::query
