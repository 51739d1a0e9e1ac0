// A tree of DuckDB's as a condition or a value of src/filter, where it can say the same.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace dyetrace::query {

// A member of a node, where it is text; else "".
inline std::string text_at(const base::Json& tree, std::string_view name) {
    return tree.get<std::string>(name).value_or("");
}

// Writes what filter/parser.h reads; nothing: only DuckDB can decide it.
std::optional<std::string> condition_text(const base::Json& tree);

}  // namespace dyetrace::query
