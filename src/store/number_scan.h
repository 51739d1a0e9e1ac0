// The rows of a statement as numbers, a column at a time: for analyses that read all events.
//
//   TRY(NumberScan scan, database.scan_numbers("SELECT start_ns, bytes, wall_offset_ns FROM …"));
//   for (;;) {
//       TRY(const NumberBatch* batch, scan.next());
//       if (batch->rows == 0) break;
//       … batch->columns[0][i]                              an unsigned number that is never NULL
//       … batch->columns[1].optional<std::int64_t>(i)       none: NULL
//       … batch->columns[2].get<std::int64_t>(i)
//   }
//
// It has a connection of its own, so that it may be read while another statement runs. Each column is a UBIGINT, a BIGINT or a DOUBLE, and is asked
// for that type only; but a BIGINT that is never below 0, as ids and times are, for an unsigned number too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/check.h"
#include "base/result.h"

namespace dyetrace::store {

enum class NumberType : std::uint8_t { kUnsigned, kSigned, kDouble };

// What a scan has of one column, valid until the next batch. A bit of `validity` is 0 where the row is NULL; without it none is. Asking for another
// type than that, or for the value of a NULL, is our mistake, and only a build for the debugger looks for it: this is read by the million.
class NumberColumn {
  public:
    NumberColumn() = default;
    NumberColumn(NumberType type, const void* values, const std::uint64_t* validity)
        : values_(values), validity_(validity), type_(type) {}
    explicit NumberColumn(std::span<const std::uint64_t> values)
        : NumberColumn(NumberType::kUnsigned, values.data(), nullptr) {}

    bool is_null(std::size_t row) const {
        return validity_ != nullptr && (validity_[row / 64] >> (row % 64) & 1) == 0;
    }
    std::uint64_t operator[](std::size_t row) const { return get<std::uint64_t>(row); }

    template <typename Number>
    Number get(std::size_t row) const {
        DCHECK((type_ == type_of<Number>() ||
                (type_ == NumberType::kSigned && type_of<Number>() == NumberType::kUnsigned)) &&
               !is_null(row));
        return static_cast<const Number*>(values_)[row];
    }
    template <typename Number = std::uint64_t>
    std::optional<Number> optional(std::size_t row) const {
        return is_null(row) ? std::nullopt : std::optional(get<Number>(row));
    }
    template <typename Number>
    Number value_or(std::size_t row, Number other) const {
        return is_null(row) ? other : get<Number>(row);
    }

  private:
    template <typename Number>
    static constexpr NumberType type_of() {
        static_assert(std::is_same_v<Number, std::uint64_t> ||
                      std::is_same_v<Number, std::int64_t> || std::is_same_v<Number, double>);
        return std::is_same_v<Number, double>         ? NumberType::kDouble
               : std::is_same_v<Number, std::int64_t> ? NumberType::kSigned
                                                      : NumberType::kUnsigned;
    }

    const void* values_ = nullptr;
    const std::uint64_t* validity_ = nullptr;
    NumberType type_ = NumberType::kUnsigned;
};

using NumberColumns = std::vector<NumberColumn>;

struct NumberBatch {
    std::size_t rows = 0;   // 0: there are no more
    NumberColumns columns;  // valid until the next batch
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
