// A C++ function that SQL can call, text to text.
#pragma once

#include "store/database.h"
#include "store/duckdb_engine.h"

namespace dyetrace::store {

Result<void> register_sql_function(const Engine& engine, SqlFunction function);

}  // namespace dyetrace::store
