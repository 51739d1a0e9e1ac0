#include "query/named_sql.h"

#include <gtest/gtest.h>

#include "query/sql.h"

namespace dyetrace::query {
namespace {

using base::Json;

std::string filled(std::string_view statement, std::string_view values) {
    const auto text = with_values(statement, Json::parse(values).value());
    return text.ok() ? text.value() : text.error().text();
}

TEST(NamedSql, puts_each_value_in_as_a_literal) {
    EXPECT_EQ(
        filled("SELECT $a, $b, $c, $d, $list::UBIGINT[], $none",
               R"({"a": 12, "b": -0.5, "c": "it's", "d": true, "list": ["7", 8], "none": null})"),
        "SELECT 12, -0.5, 'it''s', true, ['7', 8]::UBIGINT[], NULL");
}

TEST(NamedSql, a_value_stays_a_value_whatever_it_says) {
    EXPECT_EQ(
        filled("WHERE path = $path AND x = $x", R"({"path": "'; DROP TABLE a; -- $x", "x": 1})"),
        "WHERE path = '''; DROP TABLE a; -- $x' AND x = 1");
}

TEST(NamedSql, the_longest_word_is_meant) {
    EXPECT_EQ(filled("$from $from_ns", R"({"from": 1, "from_ns": 2})"), "1 2");
}

TEST(NamedSql, a_dollar_alone_stays) {
    EXPECT_EQ(filled(R"(regexp_replace(process, '\[[0-9]+\]$', '') $)", "{}"),
              R"(regexp_replace(process, '\[[0-9]+\]$', '') $)");
}

TEST(NamedSql, a_word_without_a_value_a_value_without_a_word_and_an_object_are_refused) {
    EXPECT_EQ(filled("SELECT $step", "{}"), "'step' is missing");
    EXPECT_EQ(filled("SELECT 1", R"({"step": 1})"), "there is no parameter 'step'");
    EXPECT_EQ(filled("SELECT $step", R"({"step": {"a": 1}})"), "an object is no value of SQL");
}

TEST(EmbeddedSql, comments_stay_in_the_file) {
    for (const auto& [name, text] : sql::kAll) {
        EXPECT_EQ(text.find("--"), std::string_view::npos) << name;
        EXPECT_FALSE(text.empty()) << name;
    }
}

}  // namespace
}  // namespace dyetrace::query
