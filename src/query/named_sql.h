// Values for the words of a statement that stands in an .sql file.
//
//   with_values("SELECT path FROM objects WHERE object_id = $object::UBIGINT", {"object": "4711"})
//   ──►          SELECT path FROM objects WHERE object_id = '4711'::UBIGINT
//
//   filled(sql::kCatMoves, {{"object", 4711}, {"place", SqlPiece{"file_offset"}}})
//
// A value of JSON becomes a literal of SQL: null, a truth value, a number, a text in quotes, a list of these. So no value becomes anything but a value, whoever
// sent it. DuckDB could bind them to a prepared statement; then it would plan before it knows them, and read all of a file where a few rows of it are asked for.
// Only C++ can put in a SqlPiece: the name of a column or a condition that `filter` wrote.
#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/result.h"
#include "base/sql_literal.h"

namespace dyetrace::query {

// A piece of SQL as it stands.
struct SqlPiece {
    std::string text;
};

// What C++ puts in: a number, a text, which gets quotes, or a piece.
struct SqlValue {
    template <std::integral Number>
    SqlValue(Number number) : text(std::to_string(number)) {}
    SqlValue(std::string_view word) : text(base::quoted_sql(word)) {}
    SqlValue(const std::string& word) : text(base::quoted_sql(word)) {}
    SqlValue(const char* word) : text(base::quoted_sql(word)) {}
    SqlValue(SqlPiece piece) : text(std::move(piece.text)) {}

    std::string text;
};

// Aborts if a word has no value, or a value no word: both are ours.
std::string filled(std::string_view statement,
                   std::initializer_list<std::pair<std::string_view, SqlValue>> values = {});

// kInvalidArgument: an object is no literal.
Result<std::string> sql_literal(const base::Json& value);

// kInvalidArgument: a word has no value, or a value no word. A word is a `$` with letters, digits and underscores after it.
Result<std::string> with_values(std::string_view statement, const base::Json& values);

}  // namespace dyetrace::query
