// One value of a DuckDB vector as a number. For this folder's sources only.
#pragma once

#include <duckdb.h>

#include "store/rows.h"

namespace dyetrace::store {

// Gives a boolean or a number that is not NULL; for anything else it gives none. A wide number that
// fits into 64 bits is given as such a number, any other as a double.
CellValue value_at(duckdb_vector vector, duckdb_type type, idx_t row);

}  // namespace dyetrace::store
