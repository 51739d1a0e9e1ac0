#include "query/flows/extent_file.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "analysis/dataflow/flow_engine.h"
#include "base/file.h"
#include "base/temporary_folder.h"

namespace dyetrace::query {
namespace {

using Words = std::vector<std::uint64_t>;

class ExtentFileTest : public ::testing::Test {
  protected:
    base::TemporaryFolder folder_ = base::TemporaryFolder::make().value();
};

TEST_F(ExtentFileTest, gives_back_what_it_was_given_in_any_order) {
    ExtentFile file(folder_.path());
    std::mt19937_64 random(1);
    std::map<std::uint64_t, Words> kept;
    for (int i = 0; i < 5000; ++i) {
        if (!kept.empty() && random() % 5 < 2) {
            const auto one =
                std::next(kept.begin(), static_cast<std::ptrdiff_t>(random() % kept.size()));
            ASSERT_EQ(file.take(one->first), one->second);
            kept.erase(one);
            continue;
        }
        Words words(1 + random() % 700);
        for (std::uint64_t& word : words) {
            word = random();
        }
        const auto ticket = file.put(words);
        ASSERT_TRUE(ticket);
        ASSERT_TRUE(kept.emplace(*ticket, words).second);
    }
    for (const auto& [ticket, words] : kept) {
        ASSERT_EQ(file.take(ticket), words);
    }
}

TEST_F(ExtentFileTest, uses_again_what_is_free) {
    ExtentFile file(folder_.path());
    for (int i = 0; i < 1000; ++i) {
        const auto ticket = file.put(Words(576, 7));
        ASSERT_TRUE(ticket);
        if (i % 2 == 0) {
            file.drop(*ticket);
        } else {
            file.take(*ticket);
        }
    }
    EXPECT_EQ(file.bytes(), 5 * ExtentFile::kPageBytes);
}

TEST_F(ExtentFileTest, leaves_no_name_behind) {
    ExtentFile file(folder_.path());
    ASSERT_TRUE(file.put(Words(10, 1)));
    EXPECT_TRUE(base::list_folder(folder_.path()).value().empty());
}

TEST_F(ExtentFileTest, has_no_room_over_its_limit_or_without_a_folder) {
    ExtentFile small(folder_.path(), 2 * ExtentFile::kPageBytes);
    const auto first = small.put(Words(100, 1));
    EXPECT_TRUE(first);
    EXPECT_TRUE(small.put(Words(100, 2)));
    EXPECT_FALSE(small.put(Words(100, 3)));
    small.drop(*first);
    EXPECT_TRUE(small.put(Words(100, 4)));
    EXPECT_FALSE(ExtentFile(folder_.path() + "/nowhere").put(Words(1, 1)));
}

// 20,000 pages of a file, written and read at random, of which the engine holds 2,000.
TEST_F(ExtentFileTest, lets_the_flow_engine_do_with_little_memory) {
    std::mt19937_64 random(1);
    ExtentFile file(folder_.path());
    analysis::FlowEngine whole({}, {}), small({.extents_max = 2000}, {}, &file);
    std::vector<analysis::Flow> expected, found;
    for (std::uint64_t event = 1; event <= 100'000; ++event) {
        analysis::Operation operation;
        operation.event = event;
        operation.start_ns = 10 * event;
        operation.end_ns = 10 * event + 5;
        operation.bytes = 4096;
        analysis::Side& side = event % 3 == 0 ? operation.from : operation.to;
        side.object = 1;
        side.channel = analysis::Channel::kFile;
        side.offset = random() % 20'000 * 4096;
        whole.ends(operation, expected);
        small.ends(operation, found);
    }
    EXPECT_GT(expected.size(), 20'000u);
    EXPECT_EQ(found, expected);
    EXPECT_GT(small.put_away(), 100'000u);
    EXPECT_EQ(small.forgotten(), 0u);
    EXPECT_LT(file.bytes(), 10'000'000u);
}

}  // namespace
}  // namespace dyetrace::query
