#include "query/named_sql.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/sql_literal.h"

namespace dyetrace::query {
namespace {

using base::Json;

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

}  // namespace

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
    std::string text;
    std::set<std::string, std::less<>> used;
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
        const Json* const value = values.find(word);
        if (value == nullptr) {
            return Error(ErrorCode::kInvalidArgument, fmt::format("'{}' is missing", word));
        }
        TRY(const std::string literal, sql_literal(*value));
        text += literal;
        used.emplace(word);
    }
    for (const Json::Member& member : values.members()) {
        if (!used.contains(member.name)) {
            return Error(ErrorCode::kInvalidArgument,
                         fmt::format("there is no parameter '{}'", member.name));
        }
    }
    return text;
}

}  // namespace dyetrace::query
