// The SQL that comes out of the schema, for DuckDB.
#pragma once

#include <span>

#include "schema/generated/records.h"

namespace dyetrace::schema {

// Macros for questions, of any trace or none: functions.sql.
const char* functions_sql();

// Those, and macros and internal tables of what holds of every trace, over those of labels_sql(), which must exist.
const char* macros_sql();

// Internal tables of facts, over macros_sql(), internal.raw_<record> and internal.hosts.
const char* facts_sql();

// The rows of the view `events` that are records of one kind: over facts_sql(), the view is their UNION ALL BY NAME.
struct EventSelect {
    RecordId record;
    const char* sql;
};

// The first one names all columns. `is_clustered`: with times on one clock, over clock_pieces_sql() besides.
std::span<const EventSelect> event_selects(bool is_clustered);

// The other public views, over `events`.
const char* tables_sql();

// Which time on one clock a host's time is, over internal.derived_clock_map, before `events`.
const char* clock_pieces_sql();

// The views of tables_sql() that say a time, with times on one clock.
const char* clustered_tables_sql();

// What lies in a trace as views.sql: raw_<record> over the Parquet files of the current folder, then macros_sql(), facts_sql(),
// `events` of all kinds and tables_sql().
const char* views_sql();

// Tables internal.call_labels and internal.flag_labels: what system calls, their arguments and flags are called; internal.comments: what
// tables and columns mean.
const char* labels_sql();

// Empty tables live_<record> for records that are not yet in Parquet.
const char* live_tables_sql();

}  // namespace dyetrace::schema
