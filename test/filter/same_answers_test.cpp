// Statements over random events: what is counted while events are drained gives the answer that SQL gives of the stored trace.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "filter/grouping.h"
#include "filter/grouping_json.h"
#include "query/live/live_plan.h"
#include "random_world.h"
#include "store/store_fixture.h"

namespace dyetrace {
namespace {

const std::vector<std::string> kItems = {"name",
                                         "class",
                                         "comm",
                                         "path",
                                         "error",
                                         "pid",
                                         "bytes & 4095",
                                         "duration_ns >> 10",
                                         "upper(comm)",
                                         "bytes // 1000",
                                         "coalesce(path, '-')",
                                         "offset_certain"};
const std::vector<std::string> kAggregates = {"count(*)",
                                              "count(bytes)",
                                              "count(path)",
                                              "sum(bytes)",
                                              "sum(result)",
                                              "min(result)",
                                              "max(duration_ns)",
                                              "avg(fd)",
                                              "round(avg(bytes % 100), 6)",
                                              "max(fd) - min(fd)",
                                              "count(*) * 2",
                                              "count(DISTINCT comm)",
                                              "count(*) FILTER (WHERE bytes > 0)",
                                              "sum(result) FILTER (WHERE class = 'file' OR fd < 3)",
                                              "avg(fd) FILTER (WHERE path GLOB '*a*')",
                                              "min(fd) FILTER (WHERE error IS NOT NULL)",
                                              "max(duration_ns) FILTER (WHERE NOT (bytes > 0))",
                                              "count(fd) FILTER (WHERE fd = fd + 1)",
                                              "count(*) FILTER (WHERE length(comm) > 3)",
                                              "max(comm)",
                                              "sum(bytes // 3)",
                                              "approx_count_distinct(pid)",
                                              "count(*) * 100.0 / sum(count(*)) OVER ()",
                                              "rank() OVER (ORDER BY count(*), sum(fd))"};
// What asks the rows of a statement again.
const std::vector<std::string> kAround = {
    "WITH part AS ({}) SELECT *, (SELECT count(*) FROM part) AS n FROM part",
    "SELECT count(*), count(COLUMNS(*)) FROM ({})",
    "WITH part AS ({}) SELECT * FROM part UNION ALL SELECT * FROM part",
    "SELECT * FROM ({}) ORDER BY ALL LIMIT 3"};
const std::vector<std::string> kMore = {
    "bytes // 2 = 1", "length(comm) > 3", "path SIMILAR TO '.*a.*'"};

class Statements {
  public:
    explicit Statements(filter::RandomCases& cases) : cases_(cases) {}

    std::string next() {
        std::string items, groups;
        const std::uint64_t keys = cases_.below(3);
        for (std::uint64_t i = 0; i < keys; ++i) {
            items += (i == 0 ? "" : ", ") + one_of(kItems);
            groups += (i == 0 ? " GROUP BY " : ", ") + std::to_string(i + 1);
        }
        const std::uint64_t counted = cases_.chance(20) && keys > 0 ? 0 : cases_.below(3) + 1;
        for (std::uint64_t i = 0; i < counted; ++i) {
            items += (items.empty() ? "" : ", ") + one_of(kAggregates);
        }
        std::string where = cases_.chance(60) ? cases_.condition() : "";
        if (cases_.chance(20)) {
            where = (where.empty() ? "" : "(" + where + ") AND ") + one_of(kMore);
        }
        const bool is_grouped = counted > 0 || cases_.chance(50);
        std::string text = "SELECT " + items + " FROM events" +
                           (where.empty() ? "" : " WHERE " + where) + (is_grouped ? groups : "");
        if (counted > 0 && cases_.chance(30)) {
            text += " HAVING count(*) > 1";
        }
        return cases_.chance(25) ? fmt::format(fmt::runtime(one_of(kAround)), text) : text;
    }

  private:
    const std::string& one_of(const std::vector<std::string>& list) {
        return list[cases_.below(list.size())];
    }

    filter::RandomCases& cases_;
};

// Rows in an order of their own, as SQL has none.
std::string sorted(const std::string& rows) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < rows.size();) {
        const std::size_t end = std::min(rows.find('\n', at), rows.size());
        lines.push_back(rows.substr(at, end - at));
        at = end + 1;
    }
    std::sort(lines.begin(), lines.end());
    std::string text;
    for (const std::string& line : lines) {
        text += line + "\n";
    }
    return text;
}

// As two hosts would count, whose groups meet in the answer.
std::string live_answer(const RandomWorld& world, query::LivePlan& plan) {
    std::vector<filter::Group> groups;
    for (const std::size_t half : {std::size_t{0}, std::size_t{1}}) {
        filter::GroupTable table(plan.grouping(), RandomWorld::kHostName);
        for (std::size_t i = half; i < world.events().size(); i += 2) {
            table.add(world.events()[i].bytes(), RandomWorld::kCpu, world.dictionary());
        }
        for (const auto& [key, partials] : table.groups()) {
            groups.push_back({key, partials});
        }
    }
    std::string answer;
    const auto done = plan.answer(
        groups, std::nullopt, [&](store::Rows& rows) { return store::read_rows(rows, answer); });
    return done.ok() ? answer : "error: " + done.error().text();
}

TEST(SameAnswers, come_from_what_was_counted_and_from_the_stored_trace) {
    constexpr std::uint64_t kSeed = 5;
    const base::TemporaryFolder temporary = base::TemporaryFolder::make().value();
    std::size_t answered = 0, refused = 0, empty = 0;
    for (std::uint64_t seed = kSeed; seed < kSeed + 3; ++seed) {
        filter::RandomCases cases(seed);
        const RandomWorld world(temporary.path() + "/trace" + std::to_string(seed), cases);
        Statements statements(cases);
        for (int i = 0; i < 30; ++i) {
            const std::string statement = statements.next();
            auto plan = query::LivePlan::of(statement);
            if (!plan.ok()) {
                EXPECT_EQ(plan.error().code(), ErrorCode::kUnsupported)
                    << plan.error().text() << ": " << statement;
                ++refused;
                continue;
            }
            ++answered;
            const std::string wanted = sorted(store::ask(world.database(), statement));
            empty += wanted.empty() ? 1 : 0;
            ASSERT_EQ(sorted(live_answer(world, plan.value())), wanted)
                << "seed " << seed << ": " << statement;
        }
    }
    EXPECT_GT(answered, 50u);
    EXPECT_LT(refused, 40u);  // conditions on columns that only a stored trace has
    EXPECT_LT(empty, answered / 2);
}

std::string refusal_of(const std::string& statement) {
    const auto plan = query::LivePlan::of(statement);
    return plan.ok() ? "" : plan.error().text();
}

TEST(LivePlan, says_what_it_does_not_take) {
    EXPECT_NE(refusal_of("SELECT bites FROM events").find("bites"), std::string::npos);
    EXPECT_NE(refusal_of("SELECT count(* FROM events").find("yntax"), std::string::npos);
    EXPECT_NE(refusal_of("SELECT count(*) FROM processes").find("FROM is events"),
              std::string::npos);
    EXPECT_NE(refusal_of("DELETE FROM events"), "");
    EXPECT_NE(refusal_of("SELECT 1 FROM events; SELECT 2 FROM events"), "");
    EXPECT_NE(refusal_of("SELECT * FROM events").find("name the columns"), std::string::npos);
    EXPECT_NE(refusal_of("SELECT time FROM events").find("stored traces"), std::string::npos);
    EXPECT_NE(refusal_of("SELECT pid FROM events WHERE fd > (SELECT 3)").find("only around it"),
              std::string::npos);
    EXPECT_NE(refusal_of("SELECT pid FROM events UNION SELECT tid FROM events").find("by WITH"),
              std::string::npos);
    EXPECT_NE(refusal_of("WITH part AS (SELECT pid FROM events) SELECT bites FROM part"), "");
}

TEST(LivePlan, counts_at_the_probe_what_it_can) {
    const auto plan = query::LivePlan::of(
        "SELECT name, bytes >> 10 AS kib, avg(bytes), count(*) FROM events "
        "WHERE class = 'file' AND bytes > 0 AND length(comm) > 2 GROUP BY ALL ORDER BY 4 DESC");
    ASSERT_TRUE(plan.ok()) << plan.error().text();
    const filter::Grouping& grouping = plan.value().grouping();
    EXPECT_EQ(grouping.where.to_sql(), "class = 'file' AND bytes > 0");
    EXPECT_EQ(grouping.aggregates.size(), 2u);  // the sum has the average's count
    const std::vector<std::string> lines = plan.value().explanation();
    EXPECT_NE(lines.at(1).find("comm"), std::string::npos);  // WHERE's last part is decided later
}

TEST(LivePlan, counts_a_filter_as_a_key) {
    const auto plan = query::LivePlan::of(
        "SELECT comm, count(*), count(*) FILTER (WHERE bytes > 100) AS large, "
        "avg(duration_ns) FILTER (WHERE bytes > 100), sum(bytes) FILTER (WHERE error IS NULL) "
        "FROM events GROUP BY comm");
    ASSERT_TRUE(plan.ok()) << plan.error().text();
    const filter::Grouping& grouping = plan.value().grouping();
    EXPECT_EQ(plan.value().explanation().at(1), "keys   comm, bytes > 100, error IS NULL");
    EXPECT_EQ(grouping.aggregates.size(), 3u);
    const auto travelled = filter::grouping_from(filter::json_of(grouping));
    ASSERT_TRUE(travelled.ok()) << travelled.error().text();
    EXPECT_EQ(travelled.value(), grouping);
}

TEST(LivePlan, counts_a_part_of_a_statement_at_the_probe) {
    const auto plan = query::LivePlan::of(
        "WITH calls AS (SELECT comm, count(*) AS n, sum(count(*)) OVER () AS whole FROM events "
        "WHERE class = 'file' GROUP BY comm) SELECT comm, n * 100.0 / whole AS share, "
        "n = (SELECT max(n) FROM calls) AS is_most FROM calls ORDER BY share DESC");
    ASSERT_TRUE(plan.ok()) << plan.error().text();
    const filter::Grouping& grouping = plan.value().grouping();
    EXPECT_EQ(grouping.where.to_sql(), "class = 'file'");
    EXPECT_EQ(grouping.keys.size(), 1u);
    EXPECT_EQ(grouping.aggregates.size(), 1u);
}

TEST(LivePlan, says_whether_a_row_of_an_answer_has_something) {
    auto plan = query::LivePlan::of("SELECT comm, count(*) AS calls FROM events GROUP BY comm");
    ASSERT_TRUE(plan.ok()) << plan.error().text();
    query::LivePlan& made = plan.value();
    ASSERT_TRUE(made.keep_answers().ok());
    EXPECT_FALSE(made.has_row("calls > 1").value());  // there is none yet
    const std::vector<filter::Group> groups{{{std::string("cat")}, {{.count = 3, .value = 0}}},
                                            {{std::string("dog")}, {{.count = 1, .value = 0}}}};
    ASSERT_TRUE(
        made.answer(groups, std::nullopt, [](store::Rows&) { return Result<void>(); }).ok());
    EXPECT_TRUE(made.has_row("calls > 1").value());
    EXPECT_TRUE(made.has_row("comm = 'dog' -- and no other").value());
    EXPECT_FALSE(made.has_row("comm = 'dog' AND calls > 1").value());
    EXPECT_FALSE(made.has_row("NULL").value());
    EXPECT_EQ(made.has_row("bites > 1").error().code(), ErrorCode::kInvalidArgument);
    EXPECT_FALSE(made.has_row("1) FROM events; DROP TABLE events; --").ok());
}

TEST(LivePlan, looks_at_the_rows_that_it_handed_out) {
    auto plan = query::LivePlan::of(
        "SELECT comm, count(*) AS calls, uuid()::VARCHAR AS id FROM events GROUP BY comm ORDER BY "
        "comm DESC");
    ASSERT_TRUE(plan.ok()) << plan.error().text();
    query::LivePlan& made = plan.value();
    ASSERT_TRUE(made.keep_answers().ok());
    const std::vector<filter::Group> groups{{{std::string("cat")}, {{.count = 3, .value = 0}}},
                                            {{std::string("dog")}, {{.count = 1, .value = 0}}}};
    std::vector<std::string> last;
    for (int i = 0; i < 2; ++i) {
        std::vector<std::string> seen;
        ASSERT_TRUE(made.answer(groups,
                                std::nullopt,
                                [&](store::Rows& rows) -> Result<void> {
                                    while (true) {
                                        TRY(const std::span<const store::Cell> row, rows.next());
                                        if (row.empty()) {
                                            return {};
                                        }
                                        seen.push_back(
                                            fmt::format("{} {}", row[0].text, row[2].text));
                                    }
                                })
                        .ok());
        ASSERT_EQ(seen.size(), 2u);
        EXPECT_TRUE(seen[0].starts_with("dog"));
        for (const std::string& row : seen) {
            EXPECT_TRUE(made.has_row("comm || ' ' || id = '" + row + "'").value()) << row;
        }
        for (const std::string& row : last) {
            EXPECT_FALSE(made.has_row("comm || ' ' || id = '" + row + "'").value()) << row;
        }
        last = std::move(seen);
    }
}

}  // namespace
}  // namespace dyetrace
