#include "filter/parser.h"

#include <gtest/gtest.h>

#include <string>

#include "filter/predicate.h"
#include "filter/random_cases.h"
#include "filter/sql_text.h"

namespace dyetrace::filter {
namespace {

// The condition as it is understood, or why it is refused.
std::string read(std::string_view condition) {
    auto predicate = Predicate::parse(condition);
    return predicate.ok() ? predicate.value().to_sql() : "REFUSED " + predicate.error().text();
}

TEST(Parser, reads_what_duckdb_reads) {
    EXPECT_EQ(read("class='file' and path glob '/var/*'"), "class = 'file' AND path GLOB '/var/*'");
    EXPECT_EQ(read("PID IN (1,2, 3) OR not uid == 0"), "pid IN (1, 2, 3) OR NOT (uid = 0)");
    EXPECT_EQ(read("\"path\" != 'it''s'"), "path <> 'it''s'");
    EXPECT_EQ(read("bytes not between 1 and 4_096"), "NOT (bytes >= 1 AND bytes <= 4096)");
    EXPECT_EQ(read("path not like '%.log' escape '!'"), "path NOT LIKE '%.log' ESCAPE '!'");
    EXPECT_EQ(read("comm ILIKE 'PG%'"), "comm ILIKE 'PG%'");
    EXPECT_EQ(read("error is not null"), "error IS NOT NULL");
    EXPECT_EQ(read("error notnull and fd isnull"), "error IS NOT NULL AND fd IS NULL");
    EXPECT_EQ(read("prefix(path, '/a') and suffix(path, 'b')"),
              "starts_with(path, '/a') AND ends_with(path, 'b')");
    EXPECT_EQ(read("offset_certain"), "offset_certain");
    EXPECT_EQ(read("bytes > requested"), "bytes > requested");
    EXPECT_EQ(read("requested > 0xfff"), "requested > 4095");
}

TEST(Parser, names_of_a_probes_values_have_points) {
    const RowLayout row =
        RowLayout::of({{.name = "arguments.file.f_pos"}, {.name = "result"}}).value();
    EXPECT_EQ(Predicate::parse("arguments.file.f_pos > 5", &row).value().to_sql(),
              "\"arguments.file.f_pos\" > 5");
    EXPECT_EQ(Predicate::parse("arguments.file.fpos > 5", &row).error().text(),
              "at character 1: the probe has no 'arguments.file.fpos', did you mean "
              "'arguments.file.f_pos'?");
    EXPECT_TRUE(read("a.b = 1").starts_with("REFUSED at character 1: there is no column 'a.b'"));
}

TEST(Parser, binds_as_duckdb_binds) {
    EXPECT_EQ(read("pid = 1 or pid = 2 and uid = 3"), "pid = 1 OR (pid = 2 AND uid = 3)");
    EXPECT_EQ(read("not pid = 1 and uid = 3"), "NOT (pid = 1) AND uid = 3");
    EXPECT_EQ(read("bytes & 1 + 2 = 3"), "(CAST(bytes AS HUGEINT) & 3) = 3");
    EXPECT_EQ(read("bytes + 1 * 2 = 3"), "(CAST(bytes AS HUGEINT) + 2) = 3");
    EXPECT_EQ(read("bytes - 1 - 2 = 3"), "((CAST(bytes AS HUGEINT) - 1) - 2) = 3");
    EXPECT_EQ(read("bytes = 1 is null"), "(bytes = 1) IS NULL");
    EXPECT_EQ(read("bytes << 3 = 8"), "(CAST(bytes AS HUGEINT) * 8) = 8");
}

TEST(Parser, folds_what_is_constant) {
    EXPECT_EQ(read("1 = 1"), "TRUE");
    EXPECT_EQ(read("pid = 1 and false"), "FALSE");
    EXPECT_EQ(read("pid = 1 and (true and uid = 2)"), "pid = 1 AND uid = 2");
    EXPECT_EQ(read("pid = NULL"), "FALSE");
    EXPECT_EQ(read("not (pid = NULL) or uid = 2"), "NULL OR uid = 2");
    EXPECT_EQ(read("'ab' like 'a%'"), "TRUE");
    EXPECT_EQ(read("NULL in (1)"), "FALSE");
    EXPECT_EQ(read("7 % 0 = 1 or pid = 1"), "NULL OR pid = 1");
}

TEST(Parser, compares_whole_numbers_with_a_point_exactly) {
    EXPECT_EQ(read("bytes > 1.5"), "bytes > 1");
    EXPECT_EQ(read("bytes >= 1.5"), "bytes > 1");
    EXPECT_EQ(read("bytes <= -1.5"), "bytes <= -2");
    EXPECT_EQ(read("1.50 < bytes"), "bytes > 1");
    EXPECT_EQ(read("bytes = 2.0"), "bytes = 2");
    EXPECT_EQ(read("bytes = 1.5"), "bytes IS NULL AND NULL");
    EXPECT_EQ(read("bytes in (1, 1.5)"), "bytes IN (1)");
    EXPECT_EQ(read("1.5 > 1.25"), "TRUE");
}

TEST(Parser, says_where_and_why) {
    EXPECT_EQ(read("pth = 'x'"),
              "REFUSED at character 1: there is no column 'pth', did you mean 'path'?");
    EXPECT_EQ(
        read("uid = 0 and duration > 5"),
        "REFUSED at character 13: there is no column 'duration', did you mean 'duration_ns'?");
    EXPECT_EQ(
        read("pid = '7'"),
        "REFUSED at character 5: 'pid' is a number but the constant is text; leave out the quotes");
    EXPECT_EQ(read("comm = 7"),
              "REFUSED at character 6: 'comm' is text but the constant is a number; put text in "
              "single quotes");
    EXPECT_EQ(read("comm = \"bash\""),
              "REFUSED at character 8: there is no column 'bash', did you mean 'path'?");
    EXPECT_EQ(
        read("pid"),
        "REFUSED at character 1: 'pid' is a number, not a condition; compare it with something");
    EXPECT_EQ(read("path like"), "REFUSED at character 10: something is missing at the end");
    EXPECT_EQ(read("path = 'x"), "REFUSED at character 8: this text does not end, close it with '");
    EXPECT_EQ(read("\xC3\xA9 = 1"),
              "REFUSED at character 1: this character means nothing in a condition");
    EXPECT_EQ(read("comm = '\xC3\xA9' x"), "REFUSED at character 12: 'x' is not expected here");
    EXPECT_EQ(
        read("regexp_matches(path, 'x')"),
        "REFUSED at character 1: regular expressions are for `dyetrace sql`; use GLOB or LIKE");
    EXPECT_EQ(read("path not glob 'x'"),
              "REFUSED at character 6: DuckDB has no NOT GLOB: write NOT (path GLOB '...')");
    EXPECT_EQ(read("time > 'x'"),
              "REFUSED at character 1: 'time' is known only when a trace is read; use start_ns, or "
              "--duration");
    EXPECT_EQ(
        read("path ilike '\xC3\xA9'"),
        "REFUSED at character 6: ILIKE takes a pattern of ASCII only; use LIKE for other letters");
    EXPECT_EQ(read("pid * start_ns = 1 and bytes * (start_ns * 2) = 1"),
              "REFUSED at character 30: the result could be too large to calculate with");
    EXPECT_EQ(read("pid = 1 -- x"), "REFUSED at character 9: a condition has no comments");
    EXPECT_EQ(read("pid = 1; drop"),
              "REFUSED at character 8: a condition is not a statement: leave out ';'");
    EXPECT_EQ(read("fd = -x"),
              "REFUSED at character 6: a sign stands before a number only; write 0 - x");
    EXPECT_EQ(read(""), "REFUSED at character 1: the condition is empty");
    EXPECT_EQ(read("path = '\xff'"),
              "REFUSED a condition is UTF-8; write other bytes of a name as they are shown, for "
              "instance \\xff");
    EXPECT_EQ(read("bytes = 99999999999999999999"),
              "REFUSED at character 9: this number is larger than any column can hold");
    EXPECT_EQ(read("path like 'a!' escape '!'"),
              "REFUSED at character 6: the pattern ends with its escape character");
}

TEST(Parser, has_limits) {
    const auto nested = [](std::size_t depth) {
        return std::string(depth, '(') + "pid = 1" + std::string(depth, ')');
    };
    EXPECT_EQ(read(nested(kDepthMax - 1)), "pid = 1");
    EXPECT_EQ(read(nested(kDepthMax)),
              "REFUSED at character 101: conditions nest at most 100 deep");
    std::string nots;
    for (std::size_t i = 0; i <= kDepthMax; ++i) {
        nots += "NOT ";
    }
    EXPECT_EQ(read(nots + "pid = 1"), "REFUSED at character 401: conditions nest at most 100 deep");
    std::string sum = "pid";
    for (std::size_t i = 0; i <= kDepthMax; ++i) {
        sum += " + uid";
    }
    EXPECT_EQ(read(sum + " = 1"), "REFUSED at character 605: a calculation has at most 100 steps");
    std::string list = "pid IN (1";
    for (std::size_t i = 0; i < kNodesMax; ++i) {
        list += ",1";
    }
    EXPECT_EQ(read(list + ")"),
              "REFUSED at character 20007: a condition has at most 10000 columns and constants");
    EXPECT_EQ(read(std::string(70'000, ' ')), "REFUSED a condition has at most 65536 bytes");
    EXPECT_EQ(Predicate::parse(std::string(70'000, ' ')).error().code(),
              ErrorCode::kInvalidArgument);
}

TEST(Parser, reads_its_own_sql_again) {
    constexpr std::uint64_t kSeed = 7;
    RandomCases cases(kSeed);
    int read_again = 0;
    for (int i = 0; i < 3000; ++i) {
        const std::string condition = cases.condition();
        auto predicate = Predicate::parse(condition);
        if (!predicate.ok()) {
            continue;  // a pattern that was cut inside a character
        }
        const std::string sql = predicate.value().to_sql();
        auto again = Predicate::parse(sql);
        ASSERT_TRUE(again.ok()) << "seed " << kSeed << ": " << sql << ": " << again.error().text();
        ASSERT_EQ(again.value(), predicate.value()) << "seed " << kSeed << ": " << condition;
        read_again += 1;
    }
    EXPECT_GT(read_again, 2900);
}

TEST(Predicate, joins_conditions) {
    const Predicate all;
    EXPECT_TRUE(all.selects_all());
    const Predicate one = Predicate::parse("pid = 1").value();
    EXPECT_EQ(all.and_also(one), one);
    EXPECT_EQ(one.and_also(Predicate::parse("uid = 2 and fd = 3").value()).to_sql(),
              "pid = 1 AND uid = 2 AND fd = 3");
    EXPECT_TRUE(one.and_also(Predicate::parse("false").value()).selects_nothing());
    EXPECT_TRUE(one.uses(schema::EventColumn::kPid));
    EXPECT_FALSE(one.uses(schema::EventColumn::kUid));
}

}  // namespace
}  // namespace dyetrace::filter
