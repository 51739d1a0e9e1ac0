#include "query/named_sql.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/check.h"

namespace dyetrace::query {
namespace {

using base::Json;
using Literals = std::map<std::string, std::string, std::less<>>;  // by word

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

Result<std::string> list_literal(const Json& list) {
    std::string text = "[";
    for (const Json& item : list.items()) {
        TRY(const std::string literal, sql_literal(item));
        text += (text.size() > 1 ? ", " : "") + literal;
    }
    return text + "]";
}

Result<std::string> with_literals(std::string_view statement, const Literals& literals) {
    std::string text;
    std::map<std::string_view, bool> used;
    for (const auto& [word, literal] : literals) {
        used[word] = false;
    }
    for (std::size_t at = 0; at < statement.size();) {
        const std::size_t dollar = std::min(statement.find('$', at), statement.size());
        text += statement.substr(at, dollar - at);
        const auto* const begin = statement.begin() + std::min(dollar + 1, statement.size());
        const auto* const end = std::find_if_not(begin, statement.end(), &is_letter);
        const std::string_view word(begin, end);
        at = dollar + 1 + word.size();
        if (word.empty()) {
            text += statement.substr(dollar, 1);  // of a regular expression
            continue;
        }
        const auto literal = literals.find(word);
        if (literal == literals.end()) {
            return Error(ErrorCode::kInvalidArgument, fmt::format("'{}' is missing", word));
        }
        text += literal->second;
        used[literal->first] = true;
    }
    for (const auto& [word, is_used] : used) {
        if (!is_used) {
            return Error(ErrorCode::kInvalidArgument,
                         fmt::format("there is no parameter '{}'", word));
        }
    }
    return text;
}

}  // namespace

std::string filled(std::string_view statement,
                   std::initializer_list<std::pair<std::string_view, SqlValue>> values) {
    Literals literals;
    for (const auto& [word, value] : values) {
        literals.emplace(word, value.text);
    }
    Result<std::string> text = with_literals(statement, literals);
    CHECK(text.ok(), text.error().text());
    return std::move(text).value();
}

Result<std::string> sql_literal(const Json& value) {
    if (value.is_null()) {
        return std::string("NULL");
    }
    if (const auto text = value.as<std::string>()) {
        return base::quoted_sql(*text);
    }
    if (value.is_array()) {
        return list_literal(value);
    }
    if (value.is_object()) {
        return Error(ErrorCode::kInvalidArgument, "an object is no value of SQL");
    }
    return value.text();  // true, 12, 0.5: the same in JSON and in SQL
}

Result<std::string> with_values(std::string_view statement, const Json& values) {
    Literals literals;
    for (const Json::Member& member : values.members()) {
        TRY(std::string literal, sql_literal(member.value));
        literals.emplace(member.name, std::move(literal));
    }
    return with_literals(statement, literals);
}

}  // namespace dyetrace::query
