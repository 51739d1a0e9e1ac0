// What the page asks, by name: each question is answered from a trace's database.
//
//   trace     what it is: hosts, span, what is missing from it
//   names     of tables, columns and functions, for completion
//   filter    whether {"where": "…"} is a condition
//   query     rows of SQL, in which `selected` is what the filter bar leaves
//   rows      rows that a view shows, by name (page_rows.h)
//   examples  statements to go on from
//   save      the same as a file, {"format": "csv"}, "json" or "parquet"
//   export    the events that the filter bar leaves, as a file for another tool (page_export.h)
//   report    what `dyetrace report` says
//   follow    where bytes went or came from (page_follow.h)
#pragma once

#include <string>
#include <vector>

#include "api/database_pool.h"
#include "api/http_server.h"
#include "query/selected_events.h"

namespace dyetrace::api {

// The first two must outlive the questions. `clock` is what the databases show times with; `prefix` stands before the name of each: "other_" for a trace that another one is compared with.
std::vector<api::Question> page_questions(api::DatabasePool& pool,
                                          query::SelectedEvents& trace,
                                          const std::string& clock,
                                          const std::string& prefix = "");

}  // namespace dyetrace::api
