// Tables whose rows somebody computes when they are first asked for.
#include "schema/derived_tables.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "store/store_fixture.h"

namespace dyetrace::store {
namespace {

constexpr std::size_t kWidth = 11;  // columns of flows

class DerivedTablesTest : public ::testing::Test {
  protected:
    // Rows with the events 1, 2, … in from_event; counts how often it is asked to make them.
    TableDerivation derivation(std::uint64_t rows, std::uint32_t version = 1) {
        return {
            "flows", version, [this, rows](Database& database) -> Result<RowSource> {
                ++derived_;
                TRY(NumberScan scan,
                    database.scan_numbers(
                        "SELECT count(*)::UBIGINT AS n, NULL::UBIGINT AS nothing FROM events"));
                TRY(const NumberBatch* const batch, scan.next());
                events_ = batch->columns[0][0];
                is_nothing_ = batch->columns[1].is_null(0);
                return RowSource([rows, given = std::uint64_t{0}](
                                     std::vector<std::uint64_t>& numbers) mutable -> Result<void> {
                    for (int i = 0; i < 3000 && given < rows; ++i) {
                        numbers.resize(numbers.size() + kWidth, 2);
                        numbers[numbers.size() - kWidth] = ++given;
                        numbers[numbers.size() - 6] = schema::kDerivedNull;  // to_offset
                    }
                    return {};
                });
            }};
    }
    std::unique_ptr<Database> open(std::uint64_t rows = 10, std::uint32_t version = 1) {
        auto database = trace_.database();
        database->register_table(derivation(rows, version));
        return database;
    }
    void record_and_seal() {
        trace_.record(1, 100);
        auto sealer = Sealer::start(trace::TraceFolder::open(trace_.path()).value());
        sealer.value().seal_what_is_there().value();
    }
    std::string kept() const { return trace_.path() + "/derived/flows.parquet"; }

    StoreFixture trace_;
    std::atomic<int> derived_ = 0;
    std::uint64_t events_ = 0;
    bool is_nothing_ = false;
};

constexpr const char* kSum =
    "SELECT count(*), sum(from_event), count(to_offset), min(rule), min(certainty) FROM flows";

TEST_F(DerivedTablesTest, are_made_when_they_are_asked_for_and_then_kept) {
    record_and_seal();
    {
        const auto database = open(10'000);
        EXPECT_EQ(ask(*database, "SELECT count(*) FROM events"), "100\n");
        EXPECT_EQ(derived_, 0);
        EXPECT_EQ(ask(*database, kSum), "10000 50005000 0 unix certain\n");
        EXPECT_EQ(ask(*database, kSum), "10000 50005000 0 unix certain\n");
    }
    EXPECT_EQ(ask(*open(10'000), kSum), "10000 50005000 0 unix certain\n");
    EXPECT_EQ(derived_, 1);
    EXPECT_EQ(events_, 100u);
    EXPECT_TRUE(is_nothing_);
    EXPECT_TRUE(std::filesystem::exists(kept()));
}

TEST_F(DerivedTablesTest, that_several_ask_for_at_once_are_made_once) {
    record_and_seal();
    std::vector<std::unique_ptr<Database>> databases;
    for (int i = 0; i < 4; ++i) {
        databases.push_back(open(10'000));
    }
    std::vector<std::thread> threads;
    for (const auto& database : databases) {
        threads.emplace_back(
            [&database] { EXPECT_EQ(ask(*database, kSum), "10000 50005000 0 unix certain\n"); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(derived_, 1);
}

TEST_F(DerivedTablesTest, are_found_through_views_and_in_later_statements) {
    record_and_seal();
    const auto database = open();
    EXPECT_EQ(ask(*database,
                  "CREATE VIEW v AS SELECT from_event FROM flows; SELECT max(from_event) FROM v"),
              "10\n");
    EXPECT_EQ(derived_, 1);
}

TEST_F(DerivedTablesTest, with_one_thread_and_little_memory) {
    record_and_seal();
    const auto database =
        Database::open(trace_.path(), {.threads = 1, .memory_limit = "100MB"}).value();
    database->register_table(derivation(200'000));
    EXPECT_EQ(ask(*database, "SELECT count(*) FROM flows"), "200000\n");
}

TEST_F(DerivedTablesTest, may_be_made_of_more_than_fits_into_memory) {
    record_and_seal();
    const base::TemporaryFolder elsewhere = base::TemporaryFolder::make().value();
    ::setenv("TMPDIR", elsewhere.path().c_str(), 1);
    {
        const auto database =
            Database::open(trace_.path(), {.threads = 1, .memory_limit = "100MB"}).value();
        EXPECT_EQ(ask(*database, "SELECT count(*) FROM events"), "100\n");
        EXPECT_TRUE(std::filesystem::is_empty(elsewhere.path())) << "before it is needed";
        EXPECT_EQ(ask(*database,
                      "SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY hash(range)) AS n, "
                      "range AS a, range + 1 AS b, range + 2 AS c FROM range(3000000)) "
                      "WHERE n > 0 AND a >= 0 AND b > 0 AND c > 0"),
                  "3000000\n");
        EXPECT_FALSE(std::filesystem::is_empty(elsewhere.path()));
    }
    EXPECT_TRUE(std::filesystem::is_empty(elsewhere.path())) << "when it is closed";
    ::unsetenv("TMPDIR");
}

TEST_F(DerivedTablesTest, of_older_rules_are_made_again) {
    record_and_seal();
    EXPECT_EQ(ask(*open(1, 1), "SELECT count(*) FROM flows"), "1\n");
    EXPECT_EQ(ask(*open(2, 2), "SELECT count(*) FROM flows"), "2\n");
    EXPECT_EQ(derived_, 2);
}

TEST_F(DerivedTablesTest, that_are_damaged_are_made_again) {
    record_and_seal();
    EXPECT_EQ(ask(*open(1), "SELECT count(*) FROM flows"), "1\n");
    std::filesystem::resize_file(kept(), 100);
    EXPECT_EQ(ask(*open(2), "SELECT count(*) FROM flows"), "2\n");
}

TEST_F(DerivedTablesTest, of_which_one_bit_changed_are_made_again) {
    record_and_seal();
    constexpr std::uint64_t kRows = 100;
    const std::string sum = ask(*open(kRows), kSum);
    const std::string whole = base::read_file(kept(), 1 << 20).value();
    for (std::size_t at = 4; at < whole.size(); at += whole.size() / 16) {
        std::string flipped = whole;
        flipped[at] = static_cast<char>(flipped[at] ^ 4);
        base::write_file_atomically(kept(), flipped).value();
        EXPECT_EQ(ask(*open(kRows), kSum), sum) << "at " << at;
    }
}

TEST_F(DerivedTablesTest, that_others_may_not_make_are_read_where_they_are) {
    record_and_seal();
    EXPECT_EQ(ask(*open(7), "SELECT count(*) FROM flows"), "7\n");
    EXPECT_EQ(derived_, 1);
    std::filesystem::permissions(
        trace_.path() + "/derived",
        std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    EXPECT_EQ(ask(*open(8), "SELECT count(*) FROM flows"), "7\n") << "of the same rules and events";
    EXPECT_EQ(derived_, 1);
    std::filesystem::permissions(trace_.path() + "/derived", std::filesystem::perms::owner_all);
}

TEST_F(DerivedTablesTest, of_a_recording_that_goes_on_leave_nothing_in_the_trace) {
    trace_.record(1, 100, false);
    const auto database = open();
    EXPECT_EQ(ask(*database, "SELECT count(*) FROM flows"), "10\n");
    EXPECT_FALSE(std::filesystem::exists(trace_.path() + "/derived"));
    trace_.record(1, 100, false);
    database->refresh().value();
    EXPECT_EQ(ask(*database, "SELECT count(*) FROM flows"), "10\n");
    EXPECT_EQ(derived_, 2);
    EXPECT_EQ(events_, 200u);
}

TEST_F(DerivedTablesTest, without_a_derivation_say_so) {
    record_and_seal();
    EXPECT_EQ(
        trace_.ask("SELECT count(*) FROM flows"),
        "error: cannot make the table flows: this verb has no rules for it: ask `dyetrace sql`");
}

TEST_F(DerivedTablesTest, sweep_up_after_those_who_were_killed) {
    record_and_seal();
    std::filesystem::create_directory(trace_.path() + "/derived");
    const std::string dead = kept() + ".new-999999999";  // above the largest pid there can be
    const std::string living = kept() + ".new-1";
    for (const std::string& path : {dead, living}) {
        base::write_file_atomically(path, "half").value();
    }
    EXPECT_EQ(ask(*open(3), "SELECT count(*) FROM flows"), "3\n");
    EXPECT_FALSE(std::filesystem::exists(dead));
    EXPECT_TRUE(std::filesystem::exists(living));
}

TEST_F(DerivedTablesTest, that_fail_leave_no_file) {
    record_and_seal();
    const auto database = trace_.database();
    database->register_table({"flows", 1, [](Database&) -> Result<RowSource> {
                                  return RowSource([](std::vector<std::uint64_t>&) -> Result<void> {
                                      return Error(ErrorCode::kCorrupt, "no luck");
                                  });
                              }});
    EXPECT_EQ(ask(*database, "SELECT count(*) FROM flows"),
              "error: cannot make the table flows: Invalid Input Error: no luck");
    EXPECT_TRUE(std::filesystem::is_empty(trace_.path() + "/derived"));
}

TEST_F(DerivedTablesTest, are_empty_to_readers_of_views_sql_until_they_are_made) {
    record_and_seal();
    const auto files = [&] {
        return trace_.ask("SELECT count(*) FROM read_parquet('" + trace_.path() +
                          "/*/flows.parquet')");
    };
    EXPECT_EQ(files(), "0\n");
    EXPECT_EQ(ask(*open(7), "SELECT count(*) FROM flows"), "7\n");
    EXPECT_EQ(files(), "7\n");
}

}  // namespace
}  // namespace dyetrace::store
