// The rows of a statement as numbers, a column at a time: for analyses that read all events.
//
//   TRY(NumberScan scan, database.scan_numbers("SELECT start_ns, coalesce(bytes, 0)::UBIGINT FROM …"));
//   for (;;) {
//       TRY(const NumberBatch& batch, scan.next());
//       if (batch.rows == 0) break;
//       … batch.columns[1][i]
//   }
//
// It has a connection of its own, so that it may be read while another statement runs. Each column is a UBIGINT, and NULL
// schema::kDerivedNull.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace dyetrace::store {

struct NumberBatch {
    std::size_t rows = 0;                                 // 0: there are no more
    std::vector<std::span<const std::uint64_t>> columns;  // valid until the next batch
};

class NumberScan {
  public:
    struct State;  // DuckDB's side
    explicit NumberScan(std::unique_ptr<State> state);
    NumberScan(NumberScan&&) noexcept;
    NumberScan& operator=(NumberScan&&) noexcept;
    ~NumberScan();

    Result<const NumberBatch*> next();

  private:
    std::unique_ptr<State> state_;
};

}  // namespace dyetrace::store
