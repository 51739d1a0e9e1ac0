// Random conditions over random events: the Evaluator selects the rows that SQL selects of the stored trace.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "filter/evaluator.h"
#include "random_world.h"
#include "store/store_fixture.h"

namespace dyetrace {
namespace {

// Ids in order, one a line.
std::string by_evaluator(const RandomWorld& world, const filter::Predicate& predicate) {
    const filter::Evaluator evaluator(predicate, RandomWorld::kHostName);
    std::string ids;
    for (const auto& event : world.events()) {
        if (evaluator.matches(event.bytes(), RandomWorld::kCpu, world.dictionary())) {
            const std::uint64_t sequence = schema::header_of(event.bytes()).sequence;
            ids +=
                std::to_string(schema::event_id(RandomWorld::kHost, RandomWorld::kCpu, sequence)) +
                "\n";
        }
    }
    return ids;
}

// The same for each condition, in one statement: what takes time is to make the rows.
std::vector<std::string> by_sql(const RandomWorld& world,
                                const std::vector<std::string>& conditions) {
    std::string sql = "WITH e AS MATERIALIZED (SELECT * EXCLUDE time FROM events) ";
    for (std::size_t i = 0; i < conditions.size(); ++i) {
        sql += (i == 0 ? "" : " UNION ALL ") + std::string("SELECT ") + std::to_string(i) +
               " AS number, event_id FROM e WHERE " + conditions[i];
    }
    const std::string rows = store::ask(world.database(), sql + " ORDER BY number, event_id");
    EXPECT_FALSE(rows.starts_with("error")) << rows;
    std::istringstream answer(rows);
    std::vector<std::string> ids(conditions.size());
    std::string number, id;
    while (answer >> number >> id) {
        ids.at(std::stoul(number)) += id + "\n";
    }
    return ids;
}

TEST(SameRows, are_selected_by_the_evaluator_and_by_sql) {
    constexpr std::uint64_t kSeed = 41;
    const base::TemporaryFolder temporary = base::TemporaryFolder::make().value();
    std::size_t selecting = 0;
    for (std::uint64_t seed = kSeed; seed < kSeed + 6; ++seed) {
        filter::RandomCases cases(seed);
        const RandomWorld world(temporary.path() + "/trace" + std::to_string(seed), cases);
        std::vector<std::string> conditions{"TRUE"};
        std::vector<std::string> expected{by_evaluator(world, filter::Predicate())};
        while (conditions.size() < 200) {
            const std::string text = cases.condition();
            const auto predicate = filter::Predicate::parse(text);
            if (predicate.ok()) {
                const std::string rows = by_evaluator(world, predicate.value());
                selecting += rows.empty() ? 0 : 1;
                conditions.insert(conditions.end(), {text, predicate.value().to_sql()});
                expected.insert(expected.end(), {rows, rows});
            }
        }
        const std::vector<std::string> selected = by_sql(world, conditions);
        for (std::size_t i = 0; i < conditions.size(); ++i) {
            ASSERT_EQ(selected[i], expected[i]) << "seed " << seed << ": " << conditions[i];
        }
    }
    EXPECT_GT(selecting, 250u);  // conditions that select nothing prove little
}

}  // namespace
}  // namespace dyetrace
