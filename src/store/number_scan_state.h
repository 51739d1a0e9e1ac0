// DuckDB's side of NumberScan. For this folder's sources only.
#pragma once

#include "store/duckdb_engine.h"
#include "store/number_scan.h"

namespace dyetrace::store {

struct NumberScan::State {
    OwnedConnection connection;
    OwnedResult result;
    OwnedChunk chunk;
    NumberBatch batch;
};

Result<std::unique_ptr<NumberScan::State>> start_number_scan(const Engine& engine,
                                                             const std::string& sql);

}  // namespace dyetrace::store
