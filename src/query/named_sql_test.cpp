#include "query/named_sql.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "analysis/causality/causal_order.h"
#include "analysis/causality/handover_act.h"
#include "analysis/dataflow/operation.h"
#include "query/sql.h"

namespace dyetrace::query {
namespace {

using base::Json;

std::string from_json(std::string_view statement, std::string_view values) {
    const auto text = with_values(statement, Json::parse(values).value());
    return text.ok() ? text.value() : text.error().text();
}

TEST(NamedSql, puts_each_value_in_as_a_literal) {
    EXPECT_EQ(
        from_json(
            "SELECT $a, $b, $c, $d, $list::UBIGINT[], $none",
            R"({"a": 12, "b": -0.5, "c": "it's", "d": true, "list": ["7", 8], "none": null})"),
        "SELECT 12, -0.5, 'it''s', true, ['7', 8]::UBIGINT[], NULL");
}

TEST(NamedSql, a_value_stays_a_value_whatever_it_says) {
    EXPECT_EQ(
        from_json("WHERE path = $path AND x = $x", R"({"path": "'; DROP TABLE a; -- $x", "x": 1})"),
        "WHERE path = '''; DROP TABLE a; -- $x' AND x = 1");
}

TEST(NamedSql, the_longest_word_is_meant) {
    EXPECT_EQ(from_json("$from $from_ns", R"({"from": 1, "from_ns": 2})"), "1 2");
}

TEST(NamedSql, a_dollar_alone_stays) {
    EXPECT_EQ(from_json(R"(regexp_replace(process, '\[[0-9]+\]$', '') $)", "{}"),
              R"(regexp_replace(process, '\[[0-9]+\]$', '') $)");
}

TEST(NamedSql, a_word_without_a_value_a_value_without_a_word_and_an_object_are_refused) {
    EXPECT_EQ(from_json("SELECT $step", "{}"), "'step' is missing");
    EXPECT_EQ(from_json("SELECT 1", R"({"step": 1})"), "there is no parameter 'step'");
    EXPECT_EQ(from_json("SELECT $step", R"({"step": {"a": 1}})"), "an object is no value of SQL");
}

TEST(NamedSql, numbers_texts_and_pieces_of_cpp) {
    EXPECT_EQ(query::filled("SELECT $column FROM t WHERE a = $a AND b = $b",
                            {{"column", SqlPiece{"min(a)"}}, {"a", 12}, {"b", "it's $a"}}),
              "SELECT min(a) FROM t WHERE a = 12 AND b = 'it''s $a'");
}

TEST(NamedSqlDeathTest, a_word_of_ours_without_a_value_aborts) {
    EXPECT_DEATH(query::filled("SELECT $a"), "'a' is missing");
    EXPECT_DEATH(query::filled("SELECT 1", {{"a", 1}}), "there is no parameter 'a'");
}

TEST(EmbeddedSql, names_of_the_schema_are_numbers) {
    for (const auto& [name, text] : sql::kAll) {
        EXPECT_FALSE(std::regex_search(std::string(text), std::regex(R"(\{\w+\.\w+\})"))) << name;
    }
}

TEST(EmbeddedSql, names_of_enumerations_in_cpp_are_numbers) {
    const auto number = [](auto value) { return std::to_string(static_cast<int>(value)); };
    const auto has = [](std::string_view text, const std::string& words) {
        return text.find(words) != std::string_view::npos;
    };
    using analysis::ActKind;
    EXPECT_TRUE(has(sql::kHandoversActs,
                    "WHEN 'write' THEN " + number(ActKind::kCounterAdded) + " ELSE " +
                        number(ActKind::kCounterRead)));
    EXPECT_TRUE(
        has(sql::kMovesDatagrams, "channel = " + number(analysis::Channel::kDatagrams) + " AND"));
    EXPECT_TRUE(has(sql::kCauseRulesStepsAndEvents,
                    "SELECT end_ns, " + number(analysis::StepKind::kEnds) + ", thread"));
}

TEST(EmbeddedSql, statements_have_those_that_they_are_put_together_from) {
    for (const auto& [name, text] : sql::kAll) {
        EXPECT_EQ(text.find('@'), std::string_view::npos) << name;
    }
    EXPECT_TRUE(sql::kMovesNamed.starts_with(sql::kMovesItems));
}

TEST(EmbeddedSql, comments_stay_in_the_file) {
    for (const auto& [name, text] : sql::kAll) {
        EXPECT_EQ(text.find("--"), std::string_view::npos) << name;
        EXPECT_FALSE(text.empty()) << name;
    }
}

}  // namespace
}  // namespace dyetrace::query
