// Turns the text of a condition into its tree, checked: every column is there, every operator gets what it can compare.
//
//   or ─ and ─ not ─ is ─ comparison ─ like/in/between ─ bits ─ sum ─ product ─ primary      (DuckDB's precedence)
//
// What comes out means what DuckDB means by the same words; what would differ is refused with the place and a hint:
// "at character 1: there is no column 'pth', did you mean 'path'?". Limits: kDepthMax, kNodesMax.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "filter/expression.h"
#include "filter/row.h"

namespace dyetrace::filter {

// Nested parentheses and NOTs: what recursion over the tree may cost of a small stack.
constexpr std::size_t kDepthMax = 100;
// Columns, constants and operators: a list of 1,000 pids fits ten times.
constexpr std::size_t kNodesMax = 10'000;

// With a row its fields are what names are looked for in.
Result<Expression> parse_condition(std::string_view condition, const RowLayout* row = nullptr);

// The same of a value: a column, a constant, or what is calculated of integers.
Result<Expression> parse_value(std::string_view value, const RowLayout* row = nullptr);

}  // namespace dyetrace::filter
