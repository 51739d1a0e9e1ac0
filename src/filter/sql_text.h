// A condition as SQL for a WHERE of DuckDB; parse_condition() reads the same tree from it.
#pragma once

#include <string>

#include "filter/expression.h"

namespace dyetrace::filter {

std::string sql_text(const Expression& expression);

// An integer as SQL and JSON have it.
std::string digits(Integer value);

// A name in quotes, whatever is in it.
std::string quoted_name(std::string_view name);

}  // namespace dyetrace::filter
