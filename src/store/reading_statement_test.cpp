#include "store/reading_statement.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "store/store_fixture.h"

namespace dyetrace::store {
namespace {

class ReadingStatement : public testing::Test {
  protected:
    void SetUp() override {
        fixture_.record(1, 100);
        base::write_file_atomically(outside_, "secret").value();
        open({});
    }
    void open(const DatabaseOptions& options) {
        database_.reset();
        database_ = Database::open(fixture_.path(), options).value();
    }

    // What whoever types gets: rows, or "error: …".
    std::string ask(const std::string& sql) {
        std::string answer;
        const auto done = database_->ask(
            sql, [&](Rows& rows) { return read_rows(rows, answer); }, &cancelled_);
        return done.ok() ? answer : "error: " + done.error().text();
    }
    bool is_refused(const std::string& sql) {
        return ask(sql).starts_with("error: only statements that read");
    }

    StoreFixture fixture_;
    const base::TemporaryFolder elsewhere_ = base::TemporaryFolder::make().value();
    const std::string outside_ = elsewhere_.path() + "/secret";
    std::unique_ptr<Database> database_;
    std::atomic<bool> cancelled_ = false;
};

TEST_F(ReadingStatement, is_answered_whatever_word_it_begins_with) {
    for (const char* sql : {"SELECT 1",
                            "WITH a AS (SELECT 1) SELECT * FROM a",
                            "FROM (VALUES (1))",
                            "VALUES (1)",
                            "/* a -- b */ ( SELECT 1 ) -- c",
                            "SELECT * FROM query('SELECT 1')"}) {
        EXPECT_EQ(ask(sql), "1\n") << sql;
    }
    for (const char* sql : {"DESCRIBE events",
                            "SHOW TABLES",
                            "TABLE gaps",
                            "SUMMARIZE gaps",
                            "EXPLAIN SELECT 1",
                            "explain analyze select 'enable' || '_'",
                            "EXPLAIN (FORMAT json) SELECT 1",
                            "EXPLAIN (SELECT 1)",
                            "PIVOT (SELECT 1 a, 2 b) ON a IN (1, 2) USING sum(b)",
                            "SELECT 1; SELECT 2"}) {
        EXPECT_FALSE(ask(sql).starts_with("error")) << sql << ": " << ask(sql);
    }
}

TEST_F(ReadingStatement, is_none_that_changes_anything) {
    const std::string inside = fixture_.path() + "/x";
    for (const std::string& sql : {std::string("DROP VIEW events"),
                                   std::string("CREATE VIEW v AS SELECT 1"),
                                   std::string("CREATE TABLE t(a INT)"),
                                   std::string("SET threads = 1"),
                                   std::string("PRAGMA enable_profiling"),
                                   std::string("CALL enable_logging(storage='stdout')"),
                                   std::string("BEGIN"),
                                   std::string("CHECKPOINT"),
                                   "ATTACH '" + inside + "' AS x",
                                   "COPY (SELECT 1) TO '" + inside + "'",
                                   "EXPORT DATABASE '" + inside + "'",
                                   "EXPLAIN EXPORT DATABASE '" + inside + "'",
                                   "/* SELECT */ EXPORT DATABASE '" + inside + "'",
                                   std::string("LOAD json"),
                                   std::string("SELECT 1; DROP VIEW events")}) {
        EXPECT_TRUE(ask(sql).find("only statements that read") != std::string::npos ||
                    ask(sql).find("extensions are neither") != std::string::npos ||
                    ask(sql).find("Parser Error") != std::string::npos)
            << sql << ": " << ask(sql);
    }
    EXPECT_TRUE(ask("SELECT 1; EXPORT DATABASE '" + inside + "'").starts_with("error"));
    EXPECT_FALSE(std::filesystem::exists(inside));
    EXPECT_EQ(ask("SELECT count(*) FROM events"), "100\n");
    EXPECT_EQ(ask("SELECT 'export'"), "export\n");
}

TEST_F(ReadingStatement, that_is_explained_reads_as_well) {
    const std::string inside = fixture_.path() + "/x";
    for (const char* explain : {"EXPLAIN ANALYZE ",
                                "EXPLAIN (ANALYZE) ",
                                "EXPLAIN (ANALYZE, FORMAT json) ",
                                "/**/explain/**/analyze/**/",
                                "EXPLAIN -- EXPLAIN SELECT 1\nANALYZE ",
                                "EXPLAIN /* /* */ SELECT 1 */ ANALYZE "}) {
        EXPECT_TRUE(ask(explain + ("COPY (SELECT 1) TO '" + inside + "'")).starts_with("error"))
            << explain;
        EXPECT_FALSE(std::filesystem::exists(inside)) << explain;
    }
    EXPECT_TRUE(is_refused("EXPLAIN ANALYZE CREATE TABLE t AS SELECT 1"));
    EXPECT_TRUE(ask("SELECT 1; EXPLAIN ANALYZE SELECT 1").find("one at a time") !=
                std::string::npos);
}

TEST_F(ReadingStatement, starts_no_log) {
    for (const char* sql : {"SELECT * FROM enable_logging('QueryLog', storage='stdout')",
                            "SELECT * FROM \"ENABLE_LOGGING\"(storage='stdout')",
                            "SELECT (SELECT count(*) FROM enable_logging(storage='stdout'))",
                            "SELECT * FROM query('SELECT * FROM enable_' || 'log' || 'ging()')",
                            "FROM query('FROM query(''FROM ena'' || ''ble_logging()'')')",
                            "EXPLAIN ANALYZE SELECT * FROM enable_logging(storage='stdout')"}) {
        EXPECT_TRUE(is_refused(sql)) << sql << ": " << ask(sql);
    }
    EXPECT_EQ(ask("SELECT count(*) FROM duckdb_logs()"), "0\n");
    EXPECT_EQ(ask("SELECT 'query', 'log'"), "query log\n");
}

// In a connection of its own, which knows nothing of what is read only, and which nobody can interrupt.
TEST_F(ReadingStatement, runs_no_other_one) {
    const std::string inner =
        "(json_serialize_sql('FROM enable_' || 'logging(storage=''stdout'')'))";
    for (const std::string& sql :
         {"FROM json_execute_serialized_sql" + inner,
          "FROM system.main.\"JSON_execute_serialized_SQL\"" + inner,
          "SELECT (SELECT count(*) FROM json_execute_serialized_sql" + inner + ")",
          std::string("FROM query('FROM json_exec' || 'ute_serialized_sql(json_serialize_sql(''"
                      "SELECT 1''))')"),
          "EXPLAIN ANALYZE FROM json_execute_serialized_sql" + inner,
          std::string("FROM truncate_duckdb_logs()")}) {
        EXPECT_TRUE(is_refused(sql)) << sql << ": " << ask(sql);
    }
    EXPECT_EQ(ask("SELECT count(*) FROM duckdb_logs()"), "0\n");
    EXPECT_TRUE(ask("SELECT json_serialize_sql('SELECT 1')").starts_with("{"));
}

TEST_F(ReadingStatement, reads_no_file_but_those_of_the_trace) {
    for (const std::string& path : {outside_,
                                    fixture_.path() + "/../" + outside_,
                                    std::string("/etc/passwd"),
                                    std::string("/proc/self/environ")}) {
        for (const char* function : {"read_text", "read_blob", "read_csv", "read_json", "glob"}) {
            EXPECT_NE(ask(std::string("SELECT * FROM ") + function + "('" + path + "')")
                          .find("disabled by configuration"),
                      std::string::npos)
                << function << " " << path;
        }
    }
    EXPECT_EQ(ask("SELECT content LIKE '{%' FROM read_text('" +
                  std::filesystem::canonical(fixture_.path() + "/trace.json").string() + "')"),
              "true\n");
}

TEST_F(ReadingStatement, is_any_for_whoever_is_trusted) {
    open({.is_trusting = true});
    EXPECT_EQ(ask("CREATE TABLE t AS SELECT 7 AS a; FROM t"), "7\n");
    EXPECT_EQ(ask("SELECT content FROM read_text('" + outside_ + "')"), "secret\n");
}

TEST_F(ReadingStatement, is_one_when_it_is_written_to_a_file) {
    const std::string file = elsewhere_.path() + "/rows.parquet";
    const auto write = [&](const std::string& select) {
        return database_->write_parquet(select, file);
    };
    EXPECT_FALSE(write("SELECT 1").ok());  // nobody said that it will be written
    EXPECT_FALSE(std::filesystem::exists(file));
    open({.files = {file}});
    EXPECT_TRUE(write("SELECT 1 AS a;").ok());
    EXPECT_TRUE(write("SELECT 2 AS a -- again").ok());
    const std::string inside = fixture_.path() + "/x";
    EXPECT_FALSE(write("SELECT 1) TO '" + inside + "'; COPY (SELECT 1").ok());
    EXPECT_FALSE(write("SELECT 1; SELECT 2").ok());
    EXPECT_FALSE(write("DROP VIEW events").ok());
    EXPECT_FALSE(std::filesystem::exists(inside));
    const std::string folder = database_->temporary_folder().value();
    EXPECT_TRUE(database_->write_parquet("SELECT 1 AS a", folder + "/rows.parquet").ok());
}

TEST_F(ReadingStatement, finds_the_trace_by_any_name) {
    const std::string link = elsewhere_.path() + "/link";
    std::filesystem::create_directory_symlink(fixture_.path(), link);
    for (const std::string& path : {link, link + "/.", fixture_.path() + "/../trace/"}) {
        database_ = Database::open(path, {}).value();
        EXPECT_EQ(ask("SELECT count(*) FROM events"), "100\n") << path;
    }
}

TEST_F(ReadingStatement, reads_through_no_link_that_a_trace_brought) {
    std::filesystem::create_symlink(outside_, fixture_.path() + "/link");
    const auto opened = Database::open(fixture_.path(), {});
    ASSERT_FALSE(opened.ok());
    EXPECT_NE(opened.error().text().find("link' is a link: a trace has none"), std::string::npos);
    EXPECT_TRUE(Database::open(fixture_.path(), {.is_trusting = true}).ok());
}

TEST_F(ReadingStatement, waits_for_no_pipe_that_a_trace_brought) {
    Sealer::start(trace::TraceFolder::open(fixture_.path()).value())
        .value()
        .seal_what_is_there()
        .value();
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(fixture_.path())) {
        if (entry.is_regular_file()) {
            files.push_back(entry.path().string());
        }
    }
    EXPECT_GE(files.size(), 5u);
    for (const std::string& file : files) {
        std::filesystem::rename(file, outside_);
        ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0) << file;
        const auto opened = Database::open(fixture_.path(), {});
        EXPECT_FALSE(opened.ok()) << file;
        EXPECT_NE((opened.ok() ? "" : opened.error().text()).find("file"), std::string::npos);
        std::filesystem::remove(file);
        std::filesystem::rename(outside_, file);
    }
    EXPECT_TRUE(Database::open(fixture_.path(), {}).ok());
}

TEST_F(ReadingStatement, ends_while_its_next_row_is_looked_for) {
    std::string first;
    const auto done = database_->ask(
        "SELECT i FROM range(1000000000000) t(i) WHERE i < 500000 OR i % 1000000000000 = 500000",
        [&](Rows& rows) -> Result<void> {
            for (;;) {
                TRY(const std::span<const Cell> row, rows.next());
                if (row.empty()) {
                    return {};
                }
                first = first.empty() ? std::string(row[0].text) : first;
                cancelled_ = true;  // the next rows are there already, those after them are not
            }
        },
        &cancelled_);
    EXPECT_EQ(first, "0");
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.error().code(), ErrorCode::kInterrupted);
    cancelled_ = false;
    EXPECT_EQ(ask("SELECT 1"), "1\n");
}

TEST_F(ReadingStatement, leaves_the_memory_of_the_machine_to_others) {
    open({.threads = 1});
    EXPECT_EQ(ask("SELECT CASE WHEN m LIKE '% GiB' THEN split_part(m, ' ', 1)::DOUBLE <= 3 ELSE m "
                  "LIKE '% MiB' END "
                  "FROM (SELECT current_setting('memory_limit') AS m)"),
              "true\n");
}

TEST_F(ReadingStatement, puts_no_more_on_the_disk_than_it_may) {
    open({.threads = 1, .memory_limit = "100MB", .temporary_limit = "1MB"});
    EXPECT_NE(ask("SELECT count(*) FROM (SELECT DISTINCT hash(i) FROM range(20000000) t(i))")
                  .find("Out of Memory"),
              std::string::npos);
}

}  // namespace
}  // namespace dyetrace::store
