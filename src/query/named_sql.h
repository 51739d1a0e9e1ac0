// Values for the words of a statement that stands in an .sql file.
//
//   with_values("SELECT path FROM objects WHERE object_id = $object::UBIGINT", {"object": "4711"})
//   ──►          SELECT path FROM objects WHERE object_id = '4711'::UBIGINT
//
// A value of JSON becomes a literal of SQL: null, a truth value, a number, a text in quotes, a list of these. So no value becomes anything but a value, whoever
// sent it. DuckDB could bind them to a prepared statement; then it would plan before it knows them, and read all of a file where a few rows of it are asked for.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace dyetrace::query {

// kInvalidArgument: an object is no literal.
Result<std::string> sql_literal(const base::Json& value);

// kInvalidArgument: a word has no value, or a value no word. A word is a `$` with letters, digits and underscores after it.
Result<std::string> with_values(std::string_view statement, const base::Json& values);

}  // namespace dyetrace::query
