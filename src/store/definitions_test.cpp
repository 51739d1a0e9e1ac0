#include "store/definitions.h"

#include <gtest/gtest.h>

#include "store/store_fixture.h"

namespace dyetrace::store {
namespace {

class DefinitionsTest : public ::testing::Test {
  protected:
    // Names of the views and macros that are there, in alphabetical order.
    std::string made() const {
        OwnedResult result;
        const char* const names =
            "SELECT coalesce(string_agg(name, ' ' ORDER BY name), '') FROM (SELECT view_name AS "
            "name FROM duckdb_views() WHERE NOT internal "
            "UNION ALL SELECT function_name FROM duckdb_functions() WHERE NOT internal)";
        EXPECT_EQ(duckdb_query(engine_.connection(), names, result.out()), DuckDBSuccess);
        char* const text = duckdb_value_varchar(result.out(), 0, 0);
        std::string copy = text;
        duckdb_free(text);
        return copy;
    }
    std::string made_for(const std::string& sql) {
        definitions_.make_for(engine_, sql).value();
        return made();
    }

    Engine engine_ = Engine::open({}).value();
    Definitions definitions_;
};

constexpr const char* kHalves =
    "-- Half of a number.\n"
    "CREATE OR REPLACE MACRO half(n) AS n / 2;\n"
    "CREATE OR REPLACE TABLE internal.numbers (n INTEGER);\n"
    "INSERT INTO internal.numbers VALUES (4);\n"
    "-- A comment may name what nobody needs: other.\n"
    "CREATE OR REPLACE VIEW halves AS SELECT half(n) AS h FROM internal.numbers;\n"
    "CREATE OR REPLACE VIEW other AS SELECT 1 AS halves\n";

TEST_F(DefinitionsTest, are_made_when_they_are_named_with_what_they_name) {
    definitions_.add(kHalves);
    EXPECT_EQ(made(), "");
    EXPECT_EQ(made_for("SELECT 1"), "");
    EXPECT_EQ(made_for("SELECT half(3)"), "half");
    EXPECT_EQ(made_for("SELECT h FROM \"Halves\""), "half halves");
    EXPECT_EQ(engine_.first_number("SELECT h FROM halves").value(), 2u);
}

TEST_F(DefinitionsTest, all_are_made_for_who_may_list_them) {
    definitions_.add(kHalves);
    EXPECT_EQ(made_for("SHOW tables"), "half halves other");
    EXPECT_FALSE(definitions_.make_all(engine_).value());
}

TEST_F(DefinitionsTest,
       one_that_takes_anothers_place_is_made_anew_also_for_what_was_made_with_the_other) {
    definitions_.add(kHalves);
    EXPECT_EQ(made_for("halves"), "half halves");
    definitions_.add(
        "CREATE OR REPLACE MACRO quarter(n) AS n / 4;\n"
        "CREATE OR REPLACE MACRO half(n) AS 2 * quarter(n) + 1;\n");
    EXPECT_EQ(made_for("FROM what_others_made_of_half()"), "half halves quarter");
    EXPECT_EQ(engine_.first_number("SELECT h FROM halves").value(), 3u);
}

TEST_F(DefinitionsTest, one_that_cannot_be_made_says_why_and_is_made_when_it_can) {
    definitions_.add(
        "CREATE OR REPLACE TABLE internal.sums AS SELECT sum(n) AS n FROM given;\n"
        "CREATE OR REPLACE VIEW sum AS FROM internal.sums;\n");
    const auto made = definitions_.make_for(engine_, "FROM sum");
    ASSERT_FALSE(made.ok());
    EXPECT_NE(made.error().text().find("given"), std::string::npos) << made.error().text();
    engine_.run("CREATE TABLE given AS SELECT 3 AS n").value();
    EXPECT_EQ(made_for("FROM sum"), "sum");
    EXPECT_EQ(engine_.first_number("SELECT n FROM sum").value(), 3u);
}

// DuckDB lists the columns of what it has bound.
TEST_F(DefinitionsTest, views_are_bound_for_who_may_list_their_columns) {
    constexpr const char* kColumns =
        "SELECT count(*) FROM duckdb_columns() WHERE table_name = 'halves'";
    definitions_.add(kHalves);
    EXPECT_EQ(made_for("FROM halves"), "half halves");
    EXPECT_EQ(engine_.first_number(kColumns).value(), 0u);
    definitions_.make_for(engine_, kColumns).value();
    EXPECT_EQ(engine_.first_number(kColumns).value(), 1u);
}

TEST_F(DefinitionsTest, a_view_of_what_is_not_there_says_so_where_it_is_used) {
    definitions_.add("CREATE OR REPLACE VIEW sums AS SELECT sum(n) AS n FROM given;\n");
    EXPECT_EQ(made_for("FROM sums"), "sums");
    const auto asked = engine_.first_number("SELECT n FROM sums");
    ASSERT_FALSE(asked.ok());
    EXPECT_NE(asked.error().text().find("given"), std::string::npos) << asked.error().text();
}

TEST_F(DefinitionsTest, names_in_a_statement_do_not_reach_into_views) {
    definitions_.add(kHalves);
    definitions_.add("CREATE OR REPLACE VIEW quarters AS SELECT h / 2 AS q FROM halves;\n");
    definitions_.make_for(engine_, "FROM quarters").value();
    EXPECT_EQ(
        engine_.first_number("WITH halves AS (SELECT 100 AS h) SELECT q FROM quarters").value(),
        1u);
}

// A function's rows may be of a table that no statement has named before, while a statement asks for them.
TEST(DefinitionsOfATrace, are_made_while_a_statement_runs) {
    StoreFixture trace;
    trace.record(1, 10);
    const auto database = trace.database();
    const NumberFunction events{
        .name = "events_there",
        .arguments = 1,
        .is_condition = false,
        .needs = {},
        .call = [&](auto, std::span<std::uint64_t> answers) -> Result<void> {
            TRY(NumberScan scan, database->scan_numbers("SELECT count(*)::UBIGINT FROM events"));
            TRY(const NumberBatch* const batch, scan.next());
            std::ranges::fill(answers, batch->columns[0][0]);
            return {};
        }};
    database->register_function(events).value();
    EXPECT_EQ(ask(*database, "SELECT events_there(1::UBIGINT)"), "10\n");
}

TEST(DefinitionsOfATrace, are_made_for_what_is_written_to_a_file) {
    StoreFixture trace;
    trace.record(1, 10);
    const std::string file = trace.path() + "/events.parquet";
    EXPECT_TRUE(trace.database()->write_parquet("SELECT * FROM events", file).ok());
}

// Each public table as the only thing that is asked of a trace.
TEST(DefinitionsOfATrace, can_each_be_asked_for_alone) {
    StoreFixture trace;
    trace.record(1, 10);
    const std::string names = trace.ask(
        "SELECT view_name FROM duckdb_views() WHERE schema_name = 'main' AND NOT internal");
    ASSERT_NE(names.find("retransmissions\n"), std::string::npos);
    for (std::size_t begin = 0; begin < names.size(); begin = names.find('\n', begin) + 1) {
        const std::string name = names.substr(begin, names.find('\n', begin) - begin);
        const std::string answer = trace.ask("SELECT count(*) >= 0 FROM " + name);
        const bool is_made_by_others = answer.find("has no rules for it") != std::string::npos;
        EXPECT_TRUE(answer == "true\n" || is_made_by_others) << name << ": " << answer;
    }
}

}  // namespace
}  // namespace dyetrace::store
