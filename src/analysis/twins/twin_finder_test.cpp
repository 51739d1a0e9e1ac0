#include "analysis/twins/twin_finder.h"

#include <gtest/gtest.h>

#include <utility>

namespace dyetrace::analysis {
namespace {

using Pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

TwinRecord record(std::uint32_t host,
                  std::uint64_t id,
                  std::uint64_t start_ns,
                  std::optional<std::uint64_t> end_ns) {
    return {.thread = 1, .what = 0, .start_ns = start_ns, .end_ns = end_ns, .id = id, .host = host};
}

Twins twins_of(const std::vector<TwinRecord>& records) {
    Twins found;
    TwinFinder finder;
    for (const TwinRecord& each : records) {
        finder.add(each, found);
    }
    finder.end(found);
    return found;
}

Pairs pairs(const Twins& twins) {
    Pairs all;
    for (const auto& [id, first_id] : twins.records) {
        all.emplace_back(id, first_id);
    }
    return all;
}

TEST(TwinFinder, records_that_overlap_are_of_one_call) {
    const Twins found = twins_of({record(0, 10, 100, 200),
                                  record(1, 20, 110, 210),
                                  record(1, 21, 300, 400),
                                  record(0, 11, 310, 390),
                                  record(1, 22, 500, 600)});
    EXPECT_EQ(pairs(found), (Pairs{{20, 10}, {21, 11}}));
}

TEST(TwinFinder, records_that_follow_each_other_are_two_calls) {
    EXPECT_EQ(pairs(twins_of({record(0, 10, 100, 200), record(1, 20, 201, 300)})), Pairs());
}

TEST(TwinFinder, records_that_overlap_with_one_before_the_last_belong_to_it) {
    EXPECT_EQ(pairs(twins_of(
                  {record(0, 10, 100, 200), record(1, 20, 110, 120), record(2, 30, 150, 160)})),
              (Pairs{{20, 10}, {30, 10}}));
}

TEST(TwinFinder, a_call_that_never_returned_lasts_until_the_next) {
    EXPECT_EQ(pairs(twins_of({record(0, 10, 100, std::nullopt), record(1, 20, 900, std::nullopt)})),
              (Pairs{{20, 10}}));
    EXPECT_EQ(pairs(twins_of({record(0, 10, 100, std::nullopt),
                              record(1, 20, 900, 1000),
                              record(0, 11, 2000, 2100)})),
              (Pairs{{20, 10}}));
}

// The second recording began while the call was under way.
TEST(TwinFinder, a_record_that_has_only_the_end_is_of_the_call_that_ended_there) {
    const std::uint64_t end_ns = 5'000'000'000;
    EXPECT_EQ(pairs(twins_of({record(0, 9, 100, end_ns - 2000),
                              record(0, 10, end_ns - 1000, end_ns),
                              record(1, 20, end_ns + 300, end_ns + 300),
                              record(0, 11, end_ns + 900, end_ns + 1000),
                              record(1, 21, end_ns + 910, end_ns + 1010)})),
              (Pairs{{20, 10}, {21, 11}}));
    EXPECT_EQ(pairs(twins_of({record(0, 10, 100, 200), record(1, 20, end_ns, end_ns)})), Pairs());
}

TEST(TwinFinder, of_a_bunch_the_nth_of_each_host_is_the_same) {
    EXPECT_EQ(pairs(twins_of({record(1, 20, 100, 1100),
                              record(0, 10, 101, 1101),
                              record(1, 21, 102, 1102),
                              record(0, 11, 103, 1103),
                              record(1, 22, 104, 1104)})),
              (Pairs{{20, 10}, {21, 11}}));
}

TEST(TwinFinder, other_threads_and_other_calls_are_no_twins) {
    TwinRecord other_thread = record(1, 20, 110, 210);
    other_thread.thread = 2;
    TwinRecord other_call = record(1, 20, 110, 210);
    other_call.what = 1;
    EXPECT_EQ(pairs(twins_of({record(0, 10, 100, 200), other_thread})), Pairs());
    EXPECT_EQ(pairs(twins_of({record(0, 10, 100, 200), other_call})), Pairs());
}

TEST(TwinFinder, parts_are_found_by_their_number) {
    Twins found;
    TwinFinder finder;
    finder.add(record(0, 10, 100, 200), found);
    finder.add_part({.id = 11, .part = 0});
    finder.add_part({.id = 12, .part = 1});
    finder.add(record(1, 20, 110, 210), found);
    finder.add_part({.id = 22, .part = 1});
    finder.add_part({.id = 23, .part = 2});
    finder.end(found);
    EXPECT_EQ(pairs(found), (Pairs{{20, 10}, {22, 12}}));
}

TEST(TwinFinder, handles_of_twins_are_the_same_where_both_have_one) {
    TwinRecord first = record(0, 10, 100, 200);
    first.handle = 5;
    first.handle2 = 6;
    TwinRecord twin = record(3, 20, 110, 210);
    twin.handle = 7;
    EXPECT_EQ(twins_of({first, twin}).handles, (std::vector<TwinHandle>{{3, 0, 7, 5}}));
}

TEST(TwinFinder, a_bunch_has_an_end) {
    std::vector<TwinRecord> records;
    for (std::uint64_t i = 0; i < 2 * TwinFinder::kBunchMax + 10; ++i) {
        records.push_back(record(i % 2, i, 0, 10));
    }
    const Twins found = twins_of(records);
    ASSERT_EQ(found.records.size(), records.size() / 2);
    for (const auto& [id, first_id] : found.records) {
        ASSERT_EQ(id, first_id + 1);
    }
}

}  // namespace
}  // namespace dyetrace::analysis
