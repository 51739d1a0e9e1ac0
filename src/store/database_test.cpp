#include "store/database.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "schema/derived_tables.h"
#include "store/duckdb_engine.h"
#include "store/rows_state.h"
#include "store/seal.h"
#include "store/store_fixture.h"
#include "trace/segment_reader.h"

namespace dyetrace::store {
namespace {

constexpr const char* kCount =
    "SELECT count(*), count(DISTINCT event_id), count(pid), count(path) > 0 FROM events";
constexpr const char* kSums =
    "SELECT sum(hash(COLUMNS(e.*)))::VARCHAR FROM internal.raw_syscall_event e; SELECT "
    "sum(hash(h)) FROM "
    "internal.raw_handle h; "
    "SELECT name, class, sum(bytes), max(start_ns), min(path) FROM events GROUP BY ALL ORDER BY "
    "ALL";

void seal_all(StoreFixture& trace) {
    Sealer sealer = Sealer::start(trace::TraceFolder::open(trace.path()).value()).value();
    const trace::SegmentList list = trace.folder().list().value();
    for (const std::uint64_t number : list.recorded) {
        sealer.seal(number, trace::SegmentEnd::kComplete).value();
    }
}

TEST(Database, answers_the_same_before_while_and_after_sealing) {
    StoreFixture trace;
    trace.record(4, 1000);
    const std::string count = trace.ask(kCount);
    EXPECT_EQ(count.substr(0, 10), "4000 4000 ");
    const std::string sums = trace.ask(kSums);
    Sealer sealer = Sealer::start(trace::TraceFolder::open(trace.path()).value()).value();
    EXPECT_EQ(trace.ask(kCount), count);
    for (std::uint64_t number = 1; number <= 4; ++number) {
        sealer.seal(number, trace::SegmentEnd::kComplete).value();
        EXPECT_EQ(trace.ask(kCount), count) << number;
        EXPECT_EQ(trace.ask(kSums), sums) << number;
    }
    EXPECT_EQ(trace.database()->losses().text(), "");
}

TEST(Database, answers_the_same_from_files_and_from_memory) {
    StoreFixture trace;
    trace.record(2, 1000);
    const std::string count = trace.ask(kCount);
    const std::string sums = trace.ask(kSums);
    seal_all(trace);
    for (const std::uint64_t loaded_bytes_max : {std::uint64_t{0}, UINT64_MAX}) {
        DatabaseOptions options;
        options.loaded_bytes_max = loaded_bytes_max;
        const auto database = Database::open(trace.path(), options).value();
        EXPECT_EQ(ask(*database, kCount), count) << loaded_bytes_max;
        EXPECT_EQ(ask(*database, kSums), sums) << loaded_bytes_max;
        database->refresh().value();
        EXPECT_EQ(ask(*database, kSums), sums) << loaded_bytes_max;
        EXPECT_EQ(ask(*database,
                      "SELECT count(*) FROM duckdb_tables() WHERE table_name = "
                      "'loaded_raw_syscall_event'"),
                  loaded_bytes_max == 0 ? "0\n" : "1\n");
    }
}

TEST(Database, events_have_all_columns_of_whatever_kinds_are_in_a_trace) {
    StoreFixture trace;
    trace.record(1, 100);
    const std::string columns = "SELECT column_name, column_type FROM (DESCRIBE events)";
    const std::string before = trace.ask(columns);
    seal_all(trace);
    EXPECT_TRUE(before.starts_with("event_id BIGINT\n")) << before;
    EXPECT_TRUE(before.ends_with("time_uncertainty_ns BIGINT\n")) << before;
    EXPECT_EQ(trace.ask(columns), before);
}

TEST(Database, sees_a_segment_once_wherever_its_sealer_was_killed) {
    StoreFixture trace;
    trace.record(2, 1000);
    const std::string count = trace.ask(kCount);
    const std::string segment = trace.folder().segment_path(1);
    std::filesystem::copy(segment, segment + ".copy");
    // Killed while it wrote Parquet files.
    std::filesystem::create_directory(trace.path() + "/sealing-000001");
    base::write_file_atomically(trace.path() + "/sealing-000001/syscall_event.parquet", "half")
        .value();
    EXPECT_EQ(trace.ask(kCount), count);
    // Killed between the rename and the unlink.
    {
        Sealer sealer = Sealer::start(trace::TraceFolder::open(trace.path()).value()).value();
        EXPECT_FALSE(std::filesystem::exists(trace.path() + "/sealing-000001"));
        sealer.seal(1, trace::SegmentEnd::kComplete).value();
    }
    std::filesystem::rename(segment + ".copy", segment);
    EXPECT_EQ(trace.ask(kCount), count);
    Sealer sealer = Sealer::start(trace::TraceFolder::open(trace.path()).value()).value();
    EXPECT_FALSE(std::filesystem::exists(segment));
    EXPECT_EQ(Sealer::start(trace::TraceFolder::open(trace.path()).value()).error().code(),
              ErrorCode::kUnavailable);
    EXPECT_EQ(sealer.seal_what_is_there().value(), trace::TraceState::kFinished);
    EXPECT_EQ(trace.ask(kCount), count);
    EXPECT_TRUE(trace.folder().list().value().recorded.empty());
}

TEST(Database, is_sealed_when_the_sealer_may_and_whole_when_the_recording_has_ended) {
    StoreFixture trace;
    trace.record(4, 1000, false);
    std::vector<std::size_t> asked;
    const auto may_while_three_wait = [&](std::size_t waiting) {
        asked.push_back(waiting);
        return waiting >= 3;
    };
    const auto unsealed = [&] {
        return trace::TraceFolder::open(trace.path()).value().list().value().recorded.size();
    };
    Sealer sealer = Sealer::start(trace::TraceFolder::open(trace.path()).value()).value();
    EXPECT_EQ(sealer.seal_what_is_there(may_while_three_wait).value(),
              trace::TraceState::kRecording);
    EXPECT_EQ(asked, (std::vector<std::size_t>{4, 3, 2}));
    EXPECT_EQ(unsealed(), 3u);  // and one of them is just begun
    trace.kill_recorder();
    EXPECT_EQ(sealer.seal_what_is_there(may_while_three_wait).value(), trace::TraceState::kDied);
    EXPECT_EQ(asked.size(), 3u);
    EXPECT_EQ(unsealed(), 0u);
}

TEST(Database, keeps_what_it_saw_while_segments_are_sealed_under_it) {
    StoreFixture trace;
    trace.record(3, 1000);
    const auto database = trace.database();
    const std::string sums = ask(*database, kSums);
    Sealer::start(trace::TraceFolder::open(trace.path()).value())
        .value()
        .seal_what_is_there()
        .value();
    EXPECT_EQ(ask(*database, kSums), sums);
    database->refresh().value();
    EXPECT_EQ(ask(*database, kSums), sums);
}

TEST(Database, sees_more_of_a_running_recording_each_time_it_looks) {
    StoreFixture trace;
    trace.record(1, 400, false);
    const auto database = trace.database();
    EXPECT_EQ(database->state(), trace::TraceState::kRecording);
    EXPECT_EQ(ask(*database, "SELECT count(*) FROM events"), "400\n");
    trace.record(1, 400, false);
    EXPECT_EQ(ask(*database, "SELECT count(*) FROM events"), "400\n");
    database->refresh().value();
    EXPECT_EQ(ask(*database, "SELECT count(*) FROM events"), "800\n");
    EXPECT_EQ(database->losses().gaps, 0u);
}

TEST(Database, says_that_the_recorder_died_before_and_after_sealing) {
    StoreFixture trace;
    trace.record(2, 1000, false);
    trace.kill_recorder();
    const std::string gaps = "SELECT reason, lost, begin_ns > 0 FROM gaps";
    EXPECT_EQ(trace.ask(kCount).substr(0, 10), "2000 2000 ");
    EXPECT_EQ(trace.ask(gaps), "recorder_died NULL true\n");
    EXPECT_EQ(trace.database()->losses().text(),
              "1 gap: how many events were lost is not known (the recorder died)");
    {
        Sealer sealer = Sealer::start(trace::TraceFolder::open(trace.path()).value()).value();
        EXPECT_EQ(sealer.seal_what_is_there().value(), trace::TraceState::kDied);
        EXPECT_EQ(sealer.seal_what_is_there().value(), trace::TraceState::kDied);
    }
    EXPECT_EQ(trace.ask(kCount).substr(0, 10), "2000 2000 ");
    EXPECT_EQ(trace.ask(gaps), "recorder_died NULL true\n");
}

TEST(Database, says_that_the_recorder_died_when_all_its_segments_were_sealed_before) {
    StoreFixture trace;
    trace.record(1, 1000, false);
    std::filesystem::remove(
        trace.folder().segment_path(2));  // as if it died in the middle of a rotation
    Sealer::start(trace::TraceFolder::open(trace.path()).value())
        .value()
        .seal(1, trace::SegmentEnd::kComplete)
        .value();
    trace.kill_recorder();
    const std::string gaps = "SELECT reason, lost, begin_ns > 0 FROM gaps";
    EXPECT_EQ(trace.ask(gaps), "recorder_died NULL true\n");
    Sealer::start(trace::TraceFolder::open(trace.path()).value())
        .value()
        .seal_what_is_there()
        .value();
    EXPECT_EQ(trace.ask(gaps), "recorder_died NULL true\n");
    EXPECT_EQ(trace.ask(kCount).substr(0, 10), "1000 1000 ");
}

TEST(Database, says_what_a_damaged_block_cost_before_and_after_sealing) {
    StoreFixture trace;
    trace.record(1, 1000);
    std::string bytes = base::read_file(trace.folder().segment_path(1), 64u << 20).value();
    const auto reader =
        trace::SegmentReader::open(trace.folder().segment_path(1), trace::SegmentEnd::kComplete)
            .value();
    bytes[reader.blocks().back().position + sizeof(trace::BlockHeader) + 9] ^= 4;
    const std::uint32_t lost = reader.blocks().back().record_count;
    base::write_file_atomically(trace.folder().segment_path(1), bytes).value();
    const std::string expected = "damaged_block " + std::to_string(lost) + "\n";
    const std::string count = std::to_string(1000 - lost) + "\n";
    for (const bool sealed : {false, true}) {
        if (sealed) {
            Sealer::start(trace::TraceFolder::open(trace.path()).value())
                .value()
                .seal_what_is_there()
                .value();
        }
        EXPECT_EQ(trace.ask("SELECT reason, lost FROM gaps"), expected);
        EXPECT_EQ(trace.ask("SELECT count(*) FROM events"), count);
        EXPECT_EQ(trace.database()->losses().lost, lost);
    }
}

TEST(Database, says_that_segments_are_missing) {
    StoreFixture trace;
    trace.record(3, 1000);
    std::filesystem::remove(trace.folder().segment_path(2));
    EXPECT_EQ(trace.ask("SELECT count(*) FROM events"), "2000\n");
    EXPECT_EQ(trace.ask("SELECT reason, lost FROM gaps"), "damaged_file NULL\n");
}

TEST(Database, a_column_that_another_version_did_not_write_is_empty) {
    StoreFixture trace;
    trace.record(1, 1000);
    Sealer::start(trace::TraceFolder::open(trace.path()).value())
        .value()
        .seal_what_is_there()
        .value();
    const std::string folder = trace.folder().sealed_path(1);
    const std::string file = folder + "/syscall_event.parquet";
    ask_elsewhere(trace.path(),
                  "COPY (SELECT * EXCLUDE (off_cpu_ns) FROM read_parquet('" + file + "')) TO '" +
                      file + ".new' (FORMAT parquet)");
    std::filesystem::rename(file + ".new", file);
    std::filesystem::remove(folder + "/segment.json");  // which is of the old file
    EXPECT_EQ(trace.ask("SELECT count(*), count(pid), count(on_cpu_ns) FROM events"),
              "1000 1000 0\n");
}

TEST(Database, can_be_read_by_others_with_views_sql_at_any_moment) {
    StoreFixture trace;
    trace.record(2, 1000);
    Sealer sealer = Sealer::start(trace::TraceFolder::open(trace.path()).value()).value();
    const auto count = [&] {
        return ask_elsewhere(trace.path(),
                             "SELECT count(*), count(pid), count(DISTINCT host) FROM events");
    };
    EXPECT_EQ(count(), "0 0 0\n");
    sealer.seal(1, trace::SegmentEnd::kComplete).value();
    EXPECT_EQ(count(), "1000 1000 1\n");
    sealer.seal(2, trace::SegmentEnd::kComplete).value();
    EXPECT_EQ(count(), "2000 2000 1\n");
}

TEST(Database, refuses_to_fetch_extensions_or_to_change_settings) {
    StoreFixture trace;
    trace.record(1, 10);
    const std::pair<const char*, const char*> refusals[] = {
        {"INSTALL httpfs", "extensions are neither fetched nor loaded"},
        {"FORCE INSTALL httpfs", "extensions are neither fetched nor loaded"},
        {"INSTALL httpfs FROM community", "extensions are neither fetched nor loaded"},
        {"INSTALL httpfs FROM 'http://127.0.0.1:9'", "extensions are neither fetched nor loaded"},
        {"SELECT 1; INSTALL httpfs", "extensions are neither fetched nor loaded"},
        {"LOAD httpfs", "extensions are neither fetched nor loaded"},
        {"LOAD './x.duckdb_extension'", "extensions are neither fetched nor loaded"},
        {"SET threads = 1", "the configuration has been locked"},
        {"SET autoinstall_known_extensions = true", "the configuration has been locked"},
        {"SET allow_community_extensions = true", "the configuration has been locked"},
        {"SET lock_configuration = false", "the configuration has been locked"},
        {"SELECT * FROM 'https://example.org/x.parquet'", "disabled by configuration"},
        {"COPY (SELECT 1) TO 'https://example.org/x.parquet'", "disabled by configuration"},
        {"ATTACH 'https://example.org/x.db'", "disabled by configuration"}};
    for (const auto& [sql, reason] : refusals) {
        const std::string answer = trace.ask(sql);
        EXPECT_EQ(answer.substr(0, 6), "error:") << sql << ": " << answer;
        EXPECT_NE(answer.find(reason), std::string::npos) << sql << ": " << answer;
        EXPECT_EQ(answer.find('\n'), std::string::npos) << answer;
    }
}

TEST(Database, its_own_functions_are_given_null_like_any_other_word) {
    StoreFixture trace;
    trace.record(1, 10);
    for (const char* const function : {"_records", "_new_records", "_derived", "_derived_rows"}) {
        const auto done = trace.database()->query(fmt::format("FROM {}(NULL)", function),
                                                  [](Rows&) { return Result<void>(); });
        ASSERT_FALSE(done.ok()) << function;
        EXPECT_EQ(done.error().text().find("INTERNAL"), std::string::npos) << done.error().text();
    }
}

TEST(Database, limits_are_sizes) {
    StoreFixture trace;
    trace.record(1, 10);
    for (const char* const text : {"-1", "foo", "1GB; SELECT 1"}) {
        for (const bool is_memory : {true, false}) {
            DatabaseOptions options;
            (is_memory ? options.memory_limit : options.temporary_limit) = text;
            EXPECT_EQ(Database::open(trace.path(), options).error().text(),
                      fmt::format("'{}' is no size: write 512MB or 2GB", text));
        }
    }
}

TEST(Database, reads_and_writes_files_of_this_user_when_it_may) {
    StoreFixture trace;
    trace.record(1, 10);
    const auto database = Database::open(trace.path(), {.is_trusting = true}).value();
    const base::TemporaryFolder temporary = base::TemporaryFolder::make().value();
    const std::string file = "'" + temporary.path() + "/x.parquet'";
    ask(*database, "COPY (SELECT count(*) AS n FROM events) TO " + file + " (FORMAT parquet)");
    EXPECT_EQ(ask(*database, "SELECT n FROM read_parquet(" + file + ")"), "10\n");
    const std::string remote = ask(*database, "SELECT * FROM 'https://example.org/x.parquet'");
    EXPECT_NE(remote.find("requires the extension httpfs"), std::string::npos) << remote;
}

TEST(Database, stops_a_statement_that_is_cancelled) {
    StoreFixture trace;
    trace.record(1, 10);
    const std::atomic<bool> cancelled = true;
    const auto done = trace.database()->query(
        "SELECT count(*) FROM range(1000000000000)",
        [](Rows&) { return Result<void>(); },
        &cancelled);
    EXPECT_EQ(done.error().code(), ErrorCode::kInterrupted);
}

TEST(Database, calls_functions_that_others_register) {
    StoreFixture trace;
    trace.record(1, 10);
    const auto database = trace.database();
    database
        ->register_function({.name = "twice",
                             .arguments = 1,
                             .call = [](const auto& arguments) -> std::optional<std::string> {
                                 return arguments[0] ? std::optional<std::string>(
                                                           std::string(*arguments[0]) +
                                                           std::string(*arguments[0]))
                                                     : std::nullopt;
                             }})
        .value();
    EXPECT_EQ(ask(*database, "SELECT twice('ab'), twice(NULL)"), "abab NULL\n");
}

TEST(Database, offers_sql_a_function_of_numbers) {
    StoreFixture trace;
    trace.record(1, 10);
    const auto database = trace.database();
    database
        ->register_function(NumberFunction{
            .name = "is_less",
            .arguments = 2,
            .is_condition = true,
            .needs = {},
            .call = [](auto columns, std::span<std::uint64_t> answers) -> Result<void> {
                for (std::size_t row = 0; row < answers.size(); ++row) {
                    const std::uint64_t a = columns[0][row], b = columns[1][row];
                    if (a == 13) {
                        return Error(ErrorCode::kInvalidArgument, "13 is not compared");
                    }
                    answers[row] =
                        b == schema::kDerivedNull ? schema::kDerivedNull : std::uint64_t{a < b};
                }
                return {};
            }})
        .value();
    EXPECT_EQ(ask(*database, "SELECT is_less(1, 2), is_less(2, 1), is_less(1, NULL)"),
              "true false NULL\n");
    EXPECT_EQ(
        ask(*database, "SELECT count(*) FROM range(100, 5000) WHERE is_less(range::UBIGINT, 4000)"),
        "3900\n");
    EXPECT_NE(ask(*database, "SELECT is_less(range::UBIGINT, 1) FROM range(20)")
                  .find("13 is not compared"),
              std::string::npos);
}

TEST(Database, a_macro_that_names_a_made_table_does_not_make_it) {
    StoreFixture trace;
    trace.record(1, 10);
    const auto database = trace.database();
    database->define("CREATE OR REPLACE MACRO all_flows() AS TABLE FROM flows");
    EXPECT_EQ(ask(*database, "SELECT 1"), "1\n");
    EXPECT_NE(ask(*database, "SELECT 1 FROM all_flows()").find("no rules for it"),
              std::string::npos);
}

}  // namespace
}  // namespace dyetrace::store
