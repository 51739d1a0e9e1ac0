#include "api/timeline/timeline_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "query/asked_rows.h"
#include "schema/generated/records.h"

namespace dyetrace::api {
namespace {

// Keys of 10 bits of host and 32 of id; the highest two bits say what of. Of hosts all are one: if one joins, nothing is where it was.
constexpr const char* kSelectedHosts =
    "SELECT (1::UBIGINT << 62), hash(list(h ORDER BY host_index))::UBIGINT FROM internal.hosts h";
constexpr const char* kSelectedThreads =
    " UNION ALL SELECT (host_index::UBIGINT << 32) | context_id, hash(thread_id)::UBIGINT FROM "
    "internal.contexts";
constexpr const char* kAll =
    " UNION ALL SELECT (host_index::UBIGINT << 32) | context_id, hash(c)::UBIGINT FROM "
    "internal.contexts c UNION ALL SELECT (1::UBIGINT << 63) | (host_index::UBIGINT << 32) | "
    "handle_id, hash(h)::UBIGINT FROM internal.handles h";

constexpr const char* kLost =
    "SELECT ((SELECT count(*) FROM internal.raw_accounting WHERE facts_lost > 0) + (SELECT "
    "count(*) FROM internal.raw_gap WHERE reason IN ({}, {}, {})))::UBIGINT";

}  // namespace

Result<TimelineFacts> TimelineFacts::of(store::Database& database, bool has_condition) {
    TimelineFacts facts;
    TRY(query::each_number_row(
        database,
        std::string(kSelectedHosts) + (has_condition ? kAll : kSelectedThreads),
        [&](const auto& columns, std::size_t row) {
            facts.hashes_.emplace_back(columns[0][row], columns[1][row]);
        }));
    std::sort(facts.hashes_.begin(), facts.hashes_.end());
    if (has_condition) {
        const std::string lost = fmt::format(kLost,
                                             static_cast<int>(schema::GapReason::kDamagedBlock),
                                             static_cast<int>(schema::GapReason::kDamagedFile),
                                             static_cast<int>(schema::GapReason::kRingDamaged));
        TRY(query::each_number_row(database, lost, [&](const auto& columns, std::size_t row) {
            facts.may_come_late_ = columns[0][row] > 0;
        }));
    }
    return facts;
}

bool TimelineFacts::hold(const TimelineFacts& before) const {
    return !may_come_late_ &&
           std::includes(
               hashes_.begin(), hashes_.end(), before.hashes_.begin(), before.hashes_.end());
}

}  // namespace dyetrace::api
