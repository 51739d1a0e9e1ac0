// The rows of an answer, one after the other, for those who read a trace.
//
//   TRY(each_row(database, "SELECT object_id, path FROM objects", [&](Row row) { names[number_of(row[0])] = row[1].text; }));
//   TRY(each_number_row(database, "SELECT event_id, bytes …", [&](const auto& columns, std::size_t row) { … columns[1][row] … }));
//
// The second is for millions, and for numbers only (store/number_scan.h). Setting `*cancelled` ends both with kInterrupted.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "store/database.h"

namespace dyetrace::query {

using Row = std::span<const store::Cell>;

template <typename Take>
Result<void> each_row(store::Database& database,
                      const std::string& sql,
                      Take&& take,
                      const std::atomic<bool>* cancelled = nullptr) {
    const auto take_all = [&](store::Rows& rows) -> Result<void> {
        for (;;) {
            TRY(const Row row, rows.next());
            if (row.empty()) {
                return {};
            }
            take(row);
        }
    };
    return database.query(sql, take_all, cancelled);
}

template <typename Take>
Result<void> each_number_row(store::Database& database,
                             const std::string& sql,
                             Take&& take,
                             const std::atomic<bool>* cancelled = nullptr) {
    TRY(store::NumberScan scan, database.scan_numbers(sql));
    for (;;) {
        TRY(const store::NumberBatch* const batch, scan.next());
        if (batch->rows == 0) {
            return {};
        }
        if (cancelled != nullptr && cancelled->load()) {
            return Error(ErrorCode::kInterrupted, "interrupted");
        }
        for (std::size_t row = 0; row < batch->rows; ++row) {
            take(batch->columns, row);
        }
    }
}

// 0 where there is none.
inline std::uint64_t number_of(const store::Cell& cell) {
    return cell.unsigned_number().value_or(0);
}
inline std::int64_t signed_number_of(const store::Cell& cell) {
    return cell.signed_number().value_or(0);
}

}  // namespace dyetrace::query
