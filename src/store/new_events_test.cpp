// What a later look reads as new, against all that there is.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <set>

#include "base/sanitized.h"
#include "store/store_fixture.h"

namespace dyetrace::store {
namespace {

constexpr const char* kIds = "SELECT event_id FROM events";
using Ids = std::multiset<std::uint64_t>;

void take_all(NumberScan scan, Ids& ids) {
    for (;;) {
        const NumberBatch* const batch = scan.next().value();
        if (batch->rows == 0) {
            return;
        }
        for (std::size_t row = 0; row < batch->rows; ++row) {
            ids.insert(batch->columns[0][row]);
        }
    }
}

Ids all_of(Database& database) {
    Ids ids;
    take_all(database.scan_numbers(kIds).value(), ids);
    return ids;
}

// Nothing: all must be read anew.
std::optional<Ids> new_of(Database& database, const EventsSeen& seen) {
    std::optional<NumberScan> scan = database.scan_new_numbers(kIds, seen).value();
    if (!scan) {
        return std::nullopt;
    }
    Ids ids;
    take_all(std::move(*scan), ids);
    return ids;
}

void seal_complete_ones(const StoreFixture& trace) {
    Sealer::start(trace::TraceFolder::open(trace.path()).value())
        .value()
        .seal_what_is_there()
        .value();
}

// Segments of 400 records, so that some are seen in part, some whole, and some first as Parquet.
TEST(NewEvents, what_each_look_reads_adds_up_to_all_however_it_is_cut_and_sealed) {
    for (std::uint64_t seed = 1; seed <= (base::kIsSanitized ? 1u : 3u); ++seed) {
        std::mt19937_64 random(seed);
        StoreFixture trace;
        trace.record(1, 400, false);
        const auto database = trace.database();
        Ids ids = all_of(*database);
        EventsSeen seen = database->events_seen();
        for (int step = 0; step < 8; ++step) {
            for (std::uint64_t i = random() % 6; i > 0; --i) {
                trace.record(1, 2 + 2 * (random() % 150), false);
            }
            if (random() % 3 == 0) {
                seal_complete_ones(trace);
            }
            const auto other = random() % 4 == 0 ? trace.database() : nullptr;
            database->refresh().value();
            Database& by = other ? *other : *database;
            const std::optional<Ids> added = new_of(by, seen);
            ASSERT_TRUE(added.has_value()) << "seed " << seed << " step " << step;
            ids.insert(added->begin(), added->end());
            EXPECT_EQ(ids, all_of(*database)) << "seed " << seed << " step " << step;
            seen = by.events_seen();
        }
        EXPECT_TRUE(new_of(*database, seen)->empty());
        EXPECT_GT(std::stoull(trace.ask("SELECT count(DISTINCT cpu) FROM events")), 1u);
    }
}

TEST(NewEvents, a_segment_that_was_seen_in_part_and_is_sealed_gives_its_rest) {
    StoreFixture trace;
    trace.record(1, 400, false);  // with the facts it is full
    trace.record(1, 100, false);
    const auto database = trace.database();
    const EventsSeen seen = database->events_seen();
    const Ids before = all_of(*database);
    trace.record(2, 300, false);
    trace.record(1, 50, false);
    seal_complete_ones(trace);
    ASSERT_TRUE(std::filesystem::exists(trace.folder().sealed_path(2)));
    database->refresh().value();
    const std::optional<Ids> added = new_of(*database, seen);
    ASSERT_TRUE(added.has_value());
    EXPECT_EQ(before.size() + added->size(), all_of(*database).size());
    EXPECT_EQ(added->size(), 650u);
}

TEST(NewEvents, what_others_read_stays_all_while_one_reads_what_is_new) {
    StoreFixture trace;
    trace.record(2, 400, false);
    const auto database = trace.database();
    const EventsSeen seen = database->events_seen();
    trace.record(1, 100, false);
    database->refresh().value();
    std::optional<NumberScan> scan = database->scan_new_numbers(kIds, seen).value();
    EXPECT_EQ(ask(*database, "SELECT count(*) FROM events"), "900\n");
    Ids ids;
    take_all(std::move(*scan), ids);
    EXPECT_EQ(ids.size(), 100u);
    scan.reset();
    EXPECT_EQ(ask(*database, "SELECT count(*) FROM events"), "900\n");
    EXPECT_EQ(all_of(*database).size(), 900u);
}

TEST(NewEvents, where_something_that_was_seen_is_gone_all_must_be_read) {
    StoreFixture trace;
    trace.record(3, 400, false);
    seal_complete_ones(trace);
    const auto database = trace.database();
    const EventsSeen seen = database->events_seen();
    EXPECT_TRUE(new_of(*database, seen)->empty());
    std::filesystem::remove_all(trace.folder().sealed_path(1));
    EXPECT_FALSE(new_of(*trace.database(), seen).has_value());
}

TEST(NewEvents, where_a_file_is_found_damaged_later_all_must_be_read) {
    StoreFixture trace;
    trace.record(3, 400, false);
    seal_complete_ones(trace);
    const EventsSeen seen = trace.database()->events_seen();
    std::filesystem::resize_file(trace.folder().sealed_path(1) + "/syscall_event.parquet", 1000);
    EXPECT_FALSE(new_of(*trace.database(), seen).has_value());
}

TEST(NewEvents, where_a_segment_has_other_blocks_than_were_seen_all_must_be_read) {
    StoreFixture trace, other;
    trace.record(2, 400, false);
    const EventsSeen seen = trace.database()->events_seen();
    other.records().events(0, 7);  // times are others then
    other.record(2, 400, false);
    std::filesystem::copy_file(other.folder().segment_path(1),
                               trace.folder().segment_path(1),
                               std::filesystem::copy_options::overwrite_existing);
    EXPECT_FALSE(new_of(*trace.database(), seen).has_value());
}

}  // namespace
}  // namespace dyetrace::store
