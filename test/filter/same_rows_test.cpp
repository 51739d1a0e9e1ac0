// Random conditions over random events: the Evaluator selects the rows that SQL selects of the stored trace.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "filter/evaluator.h"
#include "filter/random_cases.h"
#include "schema/dictionary.h"
#include "store/store_fixture.h"
#include "trace/segment_writer.h"

namespace dyetrace {
namespace {

constexpr std::uint16_t kHost = 3;
constexpr std::uint16_t kCpu = 2;
constexpr const char* kHostName = "node-3";
constexpr std::uint64_t kEvents = 400;

// One world, stored, and known to a Dictionary.
class World {
  public:
    World(const std::string& path, filter::RandomCases& cases) {
        trace::TraceInfo info;
        trace::Host host;
        host.index = kHost;
        host.name = kHostName;
        host.boot_id = "0";
        host.cpus = kCpu + 1;
        info.hosts.push_back(host);
        auto folder = trace::TraceFolder::create(path, info).value();
        auto writer = trace::SegmentWriter::create(folder, kHost).value();
        for (const auto& record : cases.world()) {
            dictionary_.add(record.bytes());
            writer.append(kCpu, schema::Stream::kFacts, record.bytes()).value();
        }
        for (std::uint64_t i = 0; i < kEvents; ++i) {
            events_.push_back(cases.event(i));
            writer.append(kCpu, schema::Stream::kEvents, events_.back().bytes()).value();
        }
        writer.close().value();
        folder.finish().value();
        database_ = store::Database::open(path, {}).value();
    }

    // Ids in order, one a line.
    std::string by_evaluator(const filter::Predicate& predicate) const {
        const filter::Evaluator evaluator(predicate, kHostName);
        std::string ids;
        for (const auto& event : events_) {
            if (evaluator.matches(event.bytes(), kCpu, dictionary_)) {
                const std::uint64_t sequence = schema::header_of(event.bytes()).sequence;
                ids += std::to_string(schema::event_id(kHost, kCpu, sequence)) + "\n";
            }
        }
        return ids;
    }

    // The same for each condition, in one statement: what takes time is to make the rows.
    std::vector<std::string> by_sql(const std::vector<std::string>& conditions) const {
        std::string sql = "WITH e AS MATERIALIZED (SELECT * EXCLUDE time FROM events) ";
        for (std::size_t i = 0; i < conditions.size(); ++i) {
            sql += (i == 0 ? "" : " UNION ALL ") + std::string("SELECT ") + std::to_string(i) +
                   " AS number, event_id FROM e WHERE " + conditions[i];
        }
        const std::string rows = store::ask(*database_, sql + " ORDER BY number, event_id");
        EXPECT_FALSE(rows.starts_with("error")) << rows;
        std::istringstream answer(rows);
        std::vector<std::string> ids(conditions.size());
        std::string number, id;
        while (answer >> number >> id) {
            ids.at(std::stoul(number)) += id + "\n";
        }
        return ids;
    }

  private:
    schema::Dictionary dictionary_{kHost};
    std::vector<schema::OwnedRecord> events_;
    std::unique_ptr<store::Database> database_;
};

TEST(SameRows, are_selected_by_the_evaluator_and_by_sql) {
    constexpr std::uint64_t kSeed = 41;
    const base::TemporaryFolder temporary = base::TemporaryFolder::make().value();
    std::size_t selecting = 0;
    for (std::uint64_t seed = kSeed; seed < kSeed + 6; ++seed) {
        filter::RandomCases cases(seed);
        const World world(temporary.path() + "/trace" + std::to_string(seed), cases);
        std::vector<std::string> conditions{"TRUE"};
        std::vector<std::string> expected{world.by_evaluator(filter::Predicate())};
        while (conditions.size() < 200) {
            const std::string text = cases.condition();
            const auto predicate = filter::Predicate::parse(text);
            if (predicate.ok()) {
                const std::string rows = world.by_evaluator(predicate.value());
                selecting += rows.empty() ? 0 : 1;
                conditions.insert(conditions.end(), {text, predicate.value().to_sql()});
                expected.insert(expected.end(), {rows, rows});
            }
        }
        const std::vector<std::string> selected = world.by_sql(conditions);
        for (std::size_t i = 0; i < conditions.size(); ++i) {
            ASSERT_EQ(selected[i], expected[i]) << "seed " << seed << ": " << conditions[i];
        }
    }
    EXPECT_GT(selecting, 250u);  // conditions that select nothing prove little
}

}  // namespace
}  // namespace dyetrace
