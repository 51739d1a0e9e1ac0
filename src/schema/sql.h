// The SQL that comes out of the schema, for DuckDB.
#pragma once

namespace dyetrace::schema {

// Macros, internal tables and public views over relations raw_<record>, _hosts and those of words_sql(), which must exist.
const char* public_sql();

// The view `events` with times on one clock: over internal.derived_clock_map besides, after public_sql().
const char* clustered_events_sql();

// What lies in a trace as views.sql: raw_<record> over the Parquet files of the current folder, then public_sql().
const char* views_sql();

// Tables _call_words and _flag_words: what system calls, their arguments and flags are called; _comments: what tables and
// columns mean.
const char* words_sql();

// Empty tables live_<record> for records that are not yet in Parquet.
const char* live_tables_sql();

}  // namespace dyetrace::schema
