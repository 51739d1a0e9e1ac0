#include "store/row_writer.h"

#include <gtest/gtest.h>

#include "store/store_fixture.h"

namespace dyetrace::store {
namespace {

class RowWriter : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        trace_ = std::make_unique<StoreFixture>();
        trace_->record(1, 10);
        database_ = trace_->database();
    }
    static void TearDownTestSuite() {
        database_.reset();
        trace_.reset();
    }

    static std::string written(const std::string& sql, RowFormat format, std::size_t width = 0) {
        std::string text;
        const TextSink sink = [&](std::string_view piece) {
            text += piece;
            return Result<void>();
        };
        const auto done = database_->query(
            sql, [&](Rows& rows) { return write_rows(rows, format, width, sink); });
        return done.ok() ? text : "error: " + done.error().text();
    }

    static inline std::unique_ptr<StoreFixture> trace_;
    static inline std::unique_ptr<Database> database_;
};

TEST_F(RowWriter, aligns_a_table) {
    EXPECT_EQ(written("SELECT * FROM (VALUES ('read', 5120), ('pwrite64', NULL)) AS t(name, calls)",
                      RowFormat::kTable),
              "name      calls\n"
              "--------  -----\n"
              "read       5120\n"
              "pwrite64   NULL\n");
    EXPECT_EQ(written("SELECT 1 AS a WHERE false", RowFormat::kTable), "a\n-\n");
    EXPECT_EQ(written("CREATE TEMP TABLE x AS SELECT 1", RowFormat::kTable), "");
}

TEST_F(RowWriter, cuts_long_cells_at_the_width_of_the_terminal) {
    EXPECT_EQ(
        written("SELECT 'a/very/long/path/to/a/file' AS path, 7 AS fd", RowFormat::kTable, 20),
        "path              fd\n"
        "----------------  --\n"
        "a/very/long/pat…   7\n");
}

TEST_F(RowWriter, writes_a_block_per_row_when_the_columns_are_too_many) {
    EXPECT_EQ(
        written("SELECT 'some longer text' AS first, 2 AS second, 'other longer text' AS third",
                RowFormat::kTable,
                18),
        "row 1\n"
        "  first   some longer text\n"
        "  second  2\n"
        "  third   other longer text\n");
}

TEST_F(RowWriter, makes_text_harmless_in_tables_and_json_and_keeps_it_in_csv) {
    const std::string sql =
        "SELECT 'a' || chr(27) || '[31m' || chr(10) || chr(8238) || chr(155) AS text";
    EXPECT_EQ(written(sql, RowFormat::kTable),
              "text\n-----------------------\na\\x1b[31m\\n\\u202e\\u009b\n");
    EXPECT_EQ(written(sql, RowFormat::kJson), "{\"text\":\"a\\u001B[31m\\n\\u202E\\u009B\"}\n");
    EXPECT_EQ(written(sql, RowFormat::kCsv), "text\n\"a\x1b[31m\n\xe2\x80\xae\xc2\x9b\"\n");
}

TEST_F(RowWriter, quotes_csv_where_it_must) {
    EXPECT_EQ(written("SELECT 'a,b' AS \"x,y\", 'say \"hi\"' AS q, NULL AS n, '' AS e, 1.5 AS d",
                      RowFormat::kCsv),
              "\"x,y\",q,n,e,d\n\"a,b\",\"say \"\"hi\"\"\",,\"\",1.5\n");
}

TEST_F(RowWriter, writes_64_bit_ids_as_strings_in_json) {
    EXPECT_EQ(written("SELECT 18446744073709551615::UBIGINT AS event_id, 12::UBIGINT AS start_ns, "
                      "3::INTEGER AS context_id, "
                      "NULL::UBIGINT AS object_id, true AS ok, 'nan'::DOUBLE AS n",
                      RowFormat::kJson),
              "{\"event_id\":\"18446744073709551615\",\"start_ns\":12,\"context_id\":3,\"object_"
              "id\":null,\"ok\":true,\"n\":null}\n");
}

TEST_F(RowWriter, writes_json_as_json) {
    EXPECT_EQ(
        written("SELECT '{\"a\":[1]}'::JSON AS j, '{\"b\":2}' AS arguments, '{\"c\":3}' AS text "
                "UNION ALL SELECT NULL, '{no json', ''",
                RowFormat::kJson),
        "{\"j\":{\"a\":[1]},\"arguments\":{\"b\":2},\"text\":\"{\\\"c\\\":3}\"}\n"
        "{\"j\":null,\"arguments\":\"{no json\",\"text\":\"\"}\n");
}

TEST_F(RowWriter, makes_json_that_others_wrote_harmless_and_keeps_a_row_on_a_line) {
    EXPECT_EQ(written("SELECT ('{' || chr(10) || '\"a\":\"' || chr(8238) || '\"}')::JSON AS j, "
                      "'{\"b\":\"' || chr(155) || '\"}' AS arguments, {'c': chr(8232)} AS s",
                      RowFormat::kJson),
              "{\"j\":{ "
              "\"a\":\"\\u202E\"},\"arguments\":{\"b\":\"\\u009B\"},\"s\":{\"c\":\"\\u2028\"}}\n");
}

TEST_F(RowWriter, draws_a_plan_in_lines) {
    const std::string plan = written("EXPLAIN SELECT 1", RowFormat::kTable);
    EXPECT_EQ(plan.find("\\n"), std::string::npos) << plan;
    EXPECT_EQ(plan.substr(0, 3), "\xe2\x94\x8c") << "the corner of a box: " << plan;
    EXPECT_GT(std::count(plan.begin(), plan.end(), '\n'), 4);
}

TEST_F(RowWriter, knows_every_type_that_sql_has) {
    EXPECT_EQ(
        written(
            "SELECT (-128)::TINYINT a, 255::UTINYINT b, (-1)::SMALLINT c, 65535::USMALLINT d, "
            "1::HUGEINT << 100 e, "
            "-12.050::DECIMAL(9,3) f, 0.05::DECIMAL(38,2) g, 2::DOUBLE h, 0.1::FLOAT i, false j",
            RowFormat::kCsv),
        "a,b,c,d,e,f,g,h,i,j\n-128,255,-1,65535,1267650600228229401496703205376,-12.050,0.05,2.0,"
        "0.1,false\n");
    EXPECT_EQ(written("SELECT DATE '1969-12-31' a, TIME '01:02:03.5' b, TIMESTAMP '1969-12-31 "
                      "23:59:59.25' c, "
                      "TIMESTAMP_NS '2026-11-21 12:00:00.000000001' d, INTERVAL '14 months 3 days "
                      "1 second' e, "
                      "'4ac7a9e9-607c-4c8a-84f3-843f0191e3fd'::UUID f, '\\x00a'::BLOB g, "
                      "'b'::ENUM('a', 'b') h",
                      RowFormat::kCsv),
              "a,b,c,d,e,f,g,h\n1969-12-31,01:02:03.5,1969-12-31 23:59:59.25,2026-11-21 "
              "12:00:00.000000001,"
              "1 year 2 months 3 days 00:00:01,4ac7a9e9-607c-4c8a-84f3-843f0191e3fd,\\x00a,b\n");
    EXPECT_EQ(
        written("SELECT [1, NULL] a, {'x': 'a\"b', 'y': [true]} b, MAP {'k': 3} c, [1, "
                "2]::INTEGER[2] d",
                RowFormat::kJson),
        "{\"a\":[1,null],\"b\":{\"x\":\"a\\\"b\",\"y\":[true]},\"c\":{\"k\":3},\"d\":[1,2]}\n");
}

TEST_F(RowWriter, passes_on_what_fails_in_mid_answer) {
    const std::string answer =
        written("SELECT error('no ' || range) FROM range(3)", RowFormat::kCsv);
    EXPECT_NE(answer.find("error: "), std::string::npos) << answer;
}

TEST_F(RowWriter, streams_more_rows_than_it_measures) {
    const std::string text = written("SELECT range FROM range(5000)", RowFormat::kTable);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5002);
}

}  // namespace
}  // namespace dyetrace::store
