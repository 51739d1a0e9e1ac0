#include "query/flows/trace_questions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "query/analysis_database.h"
#include "store/store_fixture.h"

namespace dyetrace::query {
namespace {

// Event, bytes and call of each, in order of the events.
std::vector<std::array<std::uint64_t, 3>> rows_of(Operations& operations) {
    std::vector<std::array<std::uint64_t, 3>> rows;
    operations
        .each([&](const analysis::Operation& operation, std::uint64_t call) {
            rows.push_back({operation.event, operation.bytes, call});
        })
        .value();
    std::ranges::sort(rows);
    return rows;
}

TEST(OperationsOfATrace, are_the_same_each_time_whether_they_are_kept_or_asked_for_again) {
    store::StoreFixture trace;
    trace.record(1, 1000);
    const auto database = open_analysis_database(trace.path(), {}).value();
    Operations kept(*database), too_many(*database, nullptr, 100);
    const auto rows = rows_of(kept);
    EXPECT_GT(rows.size(), 100U);
    EXPECT_EQ(rows_of(kept), rows);
    EXPECT_EQ(rows_of(too_many), rows);
    EXPECT_EQ(rows_of(too_many), rows);
}

}  // namespace
}  // namespace dyetrace::query
