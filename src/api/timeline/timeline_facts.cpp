#include "api/timeline/timeline_facts.h"

#include <algorithm>
#include <string>

#include "query/asked_rows.h"
#include "query/named_sql.h"
#include "query/sql.h"

namespace dyetrace::api {
Result<TimelineFacts> TimelineFacts::of(store::Database& database, bool has_condition) {
    TimelineFacts facts;
    TRY(query::each_number_row(database,
                               query::filled(has_condition ? query::sql::kTimelineAllFacts
                                                           : query::sql::kTimelineThreadFacts),
                               [&](const auto& columns, std::size_t row) {
                                   facts.hashes_.emplace_back(columns[0][row], columns[1][row]);
                               }));
    std::sort(facts.hashes_.begin(), facts.hashes_.end());
    if (has_condition) {
        const std::string lost = query::filled(query::sql::kTimelineFactsLost);
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
