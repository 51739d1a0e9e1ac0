// The rows that views show, by name: each name is a file of sql/, which says what its rows are and which values it takes.
//
//   {"name": "overview_moments", "parameters": {"step": 1000000}, "selection": {"where": "class = 'file'"}, "rows_max": 20000}
//
// examples/ has statements that the page offers to go on from in its view Query.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace dyetrace::api {

// kInvalidArgument: there is no such name, or its parameters are others.
Result<std::string> page_statement(const base::Json& question);

// {"first": "SELECT …", "events": "SELECT …", …}
base::Json page_examples();

}  // namespace dyetrace::api
