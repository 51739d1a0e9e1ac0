// Loads DuckDB's library when it is first needed.
//
// The program holds stubs of all functions of the C API (cmake/DuckDB.cmake); a call before load_duckdb() crashes, so
// Engine::open calls it and everything else here needs an Engine.
#pragma once

#include "base/result.h"

namespace dyetrace::store {

// Any number of times, from any thread. kNotFound if the library is not beside the program.
Result<void> load_duckdb();

}  // namespace dyetrace::store
