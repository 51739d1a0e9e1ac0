#include "query/clock/shared_clock.h"

#include <limits>

#include "query/asked_rows.h"
#include "query/named_sql.h"
#include "query/sql.h"
#include "schema/dictionary.h"

namespace dyetrace::query {
namespace {

// 400 years: what is further away is no time.
constexpr std::uint64_t kTimeMax = std::uint64_t{1} << 63;

// NULL: there is none.
double bound(const store::NumberColumn& column, std::size_t row) {
    return column.is_null(row) ? std::numeric_limits<double>::infinity()
                               : static_cast<double>(column[row]);
}

}  // namespace

Result<void> each_clock_piece(
    store::Database& database,
    const std::function<void(std::uint64_t host_index, const analysis::ClockPiece&)>& take) {
    TRY(each_row(database, filled(sql::kClockMake), [](Row) {}));
    return each_number_row(
        database, filled(sql::kClockPieces), [&](const auto& columns, std::size_t row) {
            const auto time = [&](std::size_t column) {
                return static_cast<std::int64_t>(columns[column][row]);
            };
            take(columns[0][row],
                 {.from_ns = time(1),
                  .to_ns = time(2),
                  .cluster_ns = time(3),
                  .cluster_to_ns = time(4),
                  .below_ns = bound(columns[5], row),
                  .above_ns = bound(columns[6], row),
                  .below_to_ns = bound(columns[7], row),
                  .above_to_ns = bound(columns[8], row)});
        });
}

Result<SharedClock> SharedClock::of(store::Database& database) {
    SharedClock clock;
    TRY(each_row(database, filled(sql::kClockWallOffsetsOfSeveral), [&](Row row) {
        clock.wall_offsets_ns_[number_of(row[0])] =
            static_cast<std::uint64_t>(signed_number_of(row[1]));
    }));
    if (clock.is_needed()) {
        TRY(each_clock_piece(database, [&](std::uint64_t host, const analysis::ClockPiece& piece) {
            clock.pieces_.add({static_cast<std::uint32_t>(host)}, piece);
        }));
    }
    return clock;
}

std::uint64_t SharedClock::at(std::uint64_t event, std::uint64_t boot_ns) const {
    return is_needed() ? at_host(event / schema::event_id(1, 0, 0), boot_ns) : boot_ns;
}

// Before the first piece and after the last one time goes on as there.
std::uint64_t SharedClock::at_host(std::uint64_t host_index, std::uint64_t boot_ns) const {
    const auto wall = wall_offsets_ns_.find(host_index);
    if (wall == wall_offsets_ns_.end() || boot_ns >= kTimeMax) {
        return boot_ns;
    }
    const auto time =
        pieces_.at({{static_cast<std::uint32_t>(host_index)}, static_cast<std::int64_t>(boot_ns)});
    return time ? static_cast<std::uint64_t>(time->time.ns()) : boot_ns + wall->second;
}

}  // namespace dyetrace::query
