// Rows as a table for people, CSV, or JSON.
//
//   table   name     calls          aligned; numbers to the right; text made harmless (base/harmless.h); NULL as nothing in CSV,
//           -------  -----          `null` in JSON, NULL here. Too wide for the terminal: long cells are cut with …;
//           pread64  5,120          far too wide: one line per cell, a block per row
//   csv     RFC 4180 with a header line, but lines end with \n as psql's and DuckDB's do; text exactly as in SQL (who
//           writes it to a terminal makes it harmless)
//   json    one object per line; 64-bit ids (…_id, fingerprint) as strings, other numbers as numbers
//
// Limits: a table's widths come from its first kTableRowsMeasured rows; later cells that are longer are cut.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/rows.h"

namespace dyetrace::store {

// A screen has some 50 rows; what is measured is held in memory.
inline constexpr std::size_t kTableRowsMeasured = 1000;

enum class RowFormat { kTable, kCsv, kJson };

using TextSink = std::function<Result<void>(std::string_view)>;

// `width` is the terminal's, 0 for as wide as it gets.
Result<void> write_rows(Rows& rows, RowFormat format, std::size_t width, const TextSink& sink);

}  // namespace dyetrace::store
