// One value of a DuckDB vector as a number. For this folder's sources only.
#pragma once

#include <duckdb.h>

#include "store/rows.h"

namespace dyetrace::store {

// Of a boolean or a number that is not NULL; of anything else it is none. A wide number that fits into 64 bits is one of them, else a double.
CellValue value_at(duckdb_vector vector, duckdb_type type, idx_t row);

}  // namespace dyetrace::store
