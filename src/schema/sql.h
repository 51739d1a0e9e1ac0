// The SQL that comes out of the schema, for DuckDB.
#pragma once

namespace dyetrace::schema {

// Macros for questions, of any trace or none: functions.sql.
const char* functions_sql();

// Those, and macros and internal tables of what holds of every trace, over those of labels_sql(), which must exist.
const char* macros_sql();

// Internal tables of facts and the public views, over macros_sql(), internal.raw_<record> and internal.hosts.
const char* public_sql();

// The view `events` with times on one clock: over internal.derived_clock_map besides, after public_sql().
const char* clustered_events_sql();

// What lies in a trace as views.sql: raw_<record> over the Parquet files of the current folder, then macros_sql() and public_sql().
const char* views_sql();

// Tables internal.call_labels and internal.flag_labels: what system calls, their arguments and flags are called; internal.comments: what
// tables and columns mean.
const char* labels_sql();

// Empty tables live_<record> for records that are not yet in Parquet.
const char* live_tables_sql();

}  // namespace dyetrace::schema
