// The rows that a statement gives, one after another, each cell as text.
//
//   for (;;) {
//       TRY(const std::span<const Cell> row, rows.next());
//       if (row.empty()) break;
//       for (const Cell& cell : row) … cell.kind, cell.text
//   }
//
// Rows are made while they are read: an answer of any size needs the memory of one chunk. Nested values (lists, structs,
// maps) are JSON. Text is what SQL has, control characters included: who shows it makes it harmless (row_writer.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dyetrace::store {

enum class CellKind : std::uint8_t { kNull, kBool, kNumber, kText, kNested };

struct Cell {
    CellKind kind = CellKind::kNull;
    std::string_view text;  // "" for NULL; valid until the next row is asked for
};

struct ResultColumn {
    std::string name;
    CellKind kind = CellKind::kText;
    bool is_64_bit = false;  // a whole number that JavaScript may not hold exactly
    bool is_json = false;    // text of SQL's type JSON
};

class Rows {
  public:
    struct State;  // DuckDB's side
    explicit Rows(std::unique_ptr<State> state);
    Rows(Rows&&) noexcept;
    Rows& operator=(Rows&&) noexcept;
    ~Rows();

    // None: the statement gives no rows (CREATE, SET, …).
    const std::vector<ResultColumn>& columns() const { return columns_; }

    // Empty after the last one. An Error here is one of the query (a division, a damaged file).
    Result<std::span<const Cell>> next();

  private:
    std::unique_ptr<State> state_;
    std::vector<ResultColumn> columns_;
    std::vector<Cell> cells_;
    std::vector<std::size_t> ends_;
    std::string text_;
};

}  // namespace dyetrace::store
