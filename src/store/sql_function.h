// C++ functions that SQL can call.
#pragma once

#include "store/database.h"
#include "store/derived_tables.h"
#include "store/duckdb_engine.h"

namespace dyetrace::store {

Result<void> register_sql_function(const Engine& engine, SqlFunction function);
// Whoever names it in a statement wants the tables of `made` that it needs.
Result<void> register_number_function(const Engine& engine,
                                      DerivedTables& made,
                                      NumberFunction function);

}  // namespace dyetrace::store
