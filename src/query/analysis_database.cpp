#include "query/analysis_database.h"

#include <fmt/format.h>

#include "query/causes/cause_functions.h"
#include "query/causes/derived_causes.h"
#include "query/clock/derived_clock_map.h"
#include "query/flows/derived_flows.h"
#include "query/payload/content_functions.h"
#include "query/similarity/derived_similarity.h"
#include "query/similarity/order_distance.h"

namespace dyetrace::query {
namespace {

// Ours take and give text; a macro gives them types.
constexpr const char* kMacros =
    "CREATE OR REPLACE MACRO order_distance(list_before, list_after) AS "
    "_order_distance(list_before::VARCHAR, list_after::VARCHAR)::DOUBLE";

Result<void> add_functions(store::Database& database) {
    database.define(kMacros);
    return database.register_function(
        {.name = "_order_distance", .arguments = 2, .call = [](const auto& lists) {
             const auto distance = lists[0] && lists[1] ? order_distance(*lists[0], *lists[1])
                                                        : std::optional<double>();
             return distance ? std::optional(fmt::format("{}", *distance)) : std::nullopt;
         }});
}

}  // namespace

Result<std::unique_ptr<store::Database>> open_analysis_database(
    const std::string& trace, const AnalysisDatabaseOptions& options) {
    TRY(auto database, store::Database::open(trace, options.database));
    TRY(register_content_functions(*database, options.key));
    offer_flows(*database);
    offer_similarities(*database);
    use_clock(*database, options.clock);
    offer_causes(*database);
    TRY(register_cause_functions(*database));
    TRY(add_functions(*database));
    return database;
}

}  // namespace dyetrace::query
