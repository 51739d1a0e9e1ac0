#include "query/clock/shown_clock.h"

#include "query/asked_rows.h"
#include "query/named_sql.h"
#include "query/sql.h"

namespace dyetrace::query {

Result<ShownClock> ShownClock::of(store::Database& database, std::string_view clock) {
    ShownClock shown;
    TRY(each_row(database, filled(sql::kClockWallOffsets), [&](Row row) {
        shown.offsets_ns_[number_of(row[0])] = number_of(row[1]);
    }));
    if (clock == "cluster" && shown.offsets_ns_.size() > 1) {
        TRY(shown.shared_, SharedClock::of(database));
    }
    return shown;
}

std::uint64_t ShownClock::at(std::uint64_t host_index, std::uint64_t boot_ns) const {
    if (shared_) {
        return shared_->at_host(host_index, boot_ns);
    }
    const auto offset = offsets_ns_.find(host_index);
    return boot_ns + (offset == offsets_ns_.end() ? 0 : offset->second);
}

}  // namespace dyetrace::query
