// DuckDB's side of NumberScan. For this folder's sources only.
#pragma once

#include "store/duckdb_engine.h"
#include "store/number_scan.h"

namespace dyetrace::store {

struct NumberScan::State {
    OwnedConnection connection;
    OwnedResult result;
    OwnedChunk chunk;
    std::vector<NumberType> types;  // of the columns
    NumberBatch batch;
};

// `views`: statements that change the database for this scan only.
Result<std::unique_ptr<NumberScan::State>> start_number_scan(const Engine& engine,
                                                             const std::string& sql,
                                                             const std::string& views = "");

}  // namespace dyetrace::store
