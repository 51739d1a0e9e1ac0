// Which statements of people are answered: those that read. For this folder's sources only.
//
//   SELECT, WITH, FROM, VALUES, TABLE, DESCRIBE, SHOW, SUMMARIZE, and EXPLAIN [ANALYZE] of one of these
//
// What a statement may read is DuckDB's to keep (enable_external_access); that it is one of these is looked at here, after DuckDB
// has taken it apart and before it runs. Four doors need more than its kind: EXPLAIN ANALYZE runs whatever stands after it, a
// function of DuckDB starts a log of all statements, in a file or on stdout, another one runs a statement that is given as JSON, and
// EXPORT begins while it is prepared.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "store/duckdb_engine.h"

namespace dyetrace::store {

// Before DuckDB prepares one of the `count` statements of `sql`: to prepare EXPORT DATABASE makes its folder.
Result<void> check_words(const std::string& sql, idx_t count);

// kUnsupported, in words for whoever asked: what was prepared of `sql`, one of `count` statements, does more than read.
Result<void> check_only_reads(const Engine& engine,
                              const OwnedStatement& statement,
                              const std::string& sql,
                              idx_t count);

// The same of exactly one SELECT, which can stand in another statement.
Result<void> check_one_select(const Engine& engine, const std::string& sql);

}  // namespace dyetrace::store
