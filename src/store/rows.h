// The rows that a statement gives, one after another, each cell as text and, where it is one, as a number.
//
//   for (;;) {
//       TRY(const std::span<const Cell> row, rows.next());
//       if (row.empty()) break;
//       for (const Cell& cell : row) … cell.kind, cell.text
//       const std::optional<std::int64_t> offset = row[2].signed_number();      none: NULL
//   }
//
// Rows are made while they are read: an answer of any size needs the memory of one chunk. Nested values (lists, structs,
// maps) are JSON. Text is what SQL has, control characters included: who shows it makes it harmless (row_writer.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace dyetrace::store {

enum class CellKind : std::uint8_t { kNull, kBool, kNumber, kText, kNested };

using CellValue = std::variant<std::monostate, bool, std::uint64_t, std::int64_t, double>;

struct Cell {
    CellKind kind = CellKind::kNull;
    std::string_view text;  // "" for NULL; valid until the next row is asked for
    CellValue value = {};   // of a boolean or a number

    bool is_null() const { return kind == CellKind::kNull; }
    bool is_true() const { return std::get_if<bool>(&value) != nullptr && std::get<bool>(value); }

    // None for NULL, and for what the type cannot hold. A double gives its whole part. Text is no
    // number, whatever it says: asking for one is our mistake.
    std::optional<std::uint64_t> unsigned_number() const;
    std::optional<std::int64_t> signed_number() const;
    std::optional<double> number() const;
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
