// `arguments` of a call in C++, for SQL: what the macro _arguments_text of prelude.sql says, an order of magnitude sooner.
//
//   _arguments_json(abi, syscall, argument0, …, argument5, name, name2)      {"flags":"O_RDONLY","mode":"000"}
//
// Whoever reads a trace without this program has the macro: views.sql.
#pragma once

#include "base/result.h"
#include "store/duckdb_engine.h"

namespace dyetrace::store {

Result<void> register_arguments_function(const Engine& engine);

// Runs after macros_sql() and before public_sql(): views are made with the function.
inline constexpr const char* kArgumentsByFunction =
    "CREATE OR REPLACE MACRO _arguments(abi, syscall, labels, types, sets, pair, choices, a0, a1, "
    "a2, a3, a4, a5, name, name2) AS "
    "_arguments_json(abi, syscall, a0, a1, a2, a3, a4, a5, name, name2);\n";

}  // namespace dyetrace::store
