// DuckDB's side of Rows. For this folder's sources only.
#pragma once

#include <vector>

#include "store/duckdb_engine.h"
#include "store/rows.h"

namespace dyetrace::store {

struct Rows::State {
    OwnedResult result;
    OwnedChunk chunk;
    std::vector<duckdb_type> types;  // of the columns
    idx_t row = 0;
    idx_t row_count = 0;  // of the chunk
};

}  // namespace dyetrace::store
