// Views and macros that are put into DuckDB's catalog as they are written. What they name need not be there yet: it is looked up where they are used,
// and only what the statement takes of it. `CREATE VIEW` binds the whole view, with all views below it, which takes 15 ms for some of ours.
// For this folder's sources only.
#pragma once

#include <string>

#include "base/result.h"
#include "store/duckdb_engine.h"

namespace dyetrace::store {

// `sql`: any number of statements CREATE OR REPLACE VIEW or MACRO. A view of which neither DuckDB's duckdb_columns() nor its kin know columns.
Result<void> add_catalog_entries(duckdb_connection connection, const std::string& sql);

}  // namespace dyetrace::store
