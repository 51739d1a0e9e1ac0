// One value of a DuckDB vector as text. For this folder's sources only.
#pragma once

#include <duckdb.h>

#include <cstdint>
#include <string>

#include "store/rows.h"

namespace dyetrace::store {

CellKind cell_kind_of(duckdb_type type);
bool is_64_bit(duckdb_type type);

// Appends row `row` of `vector`; returns kNull (and appends nothing) if it is NULL. With `as_json` text, times and other
// words are quoted, as inside of nested values.
CellKind append_cell(std::string& out, duckdb_vector vector, idx_t row, bool as_json);

}  // namespace dyetrace::store
