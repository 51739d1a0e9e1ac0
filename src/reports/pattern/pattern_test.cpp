#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "base/json.h"
#include "reports/pattern/pattern_answer.h"

namespace dyetrace::reports {
namespace {

using analysis::Access;

constexpr std::uint64_t kRecords = 100;
constexpr std::uint64_t kRecordBytes = 10'000;

// Two passes over records of one file; the second one in the order that `shuffle` leaves.
template <typename Shuffle>
std::vector<Access> two_passes(Shuffle shuffle, bool with_content) {
    std::vector<std::uint64_t> order(kRecords);
    std::iota(order.begin(), order.end(), 0u);
    std::vector<Access> out;
    for (int pass = 0; pass < 2; ++pass) {
        for (const std::uint64_t record : order) {
            Access access{.offset = record * kRecordBytes,
                          .bytes = kRecordBytes,
                          .start_ns = 1'000'000 * out.size()};
            if (with_content) {
                access.fingerprint = record;
            }
            out.push_back(access);
        }
        shuffle(order);
    }
    return out;
}

void reverse(std::vector<std::uint64_t>& order) {
    std::reverse(order.begin(), order.end());
}

PatternAnswer answer_of(const std::vector<Access>& accesses) {
    analysis::PatternBuilder builder;
    for (const Access& access : accesses) {
        builder.add(access);
    }
    PatternGroup group;
    group.access = "read";
    group.who = "loader[7]";
    group.threads = group.processes = group.files = 1;
    PatternAnswer answer;
    answer.path = "/data/*";
    answer.files = {"/data/train.rec"};
    answer.groups.push_back(
        drawn(std::move(group), std::move(builder).finish({kRecords * kRecordBytes})));
    return answer;
}

TEST(Pattern, is_said_on_one_screen) {
    EXPECT_EQ(pattern_text(answer_of(two_passes(reverse, false)), 80),
              "  /data/train.rec\n"
              "\n"
              "  read        by loader[7]: 200 reads, 2 MB in 199 ms: mixed\n"
              "  steps       sequential 49.7 % · reversed 49.7 % · repeated 0.5 %\n"
              "  sizes       10,000 B each\n"
              "  covered     1 MB of 1 MB (100 %), each byte 2 times\n"
              "              ████████████████████████████████████████\n"
              "  by place    2 passes\n"
              "    1         ▁▁▁▁▁▂▂▂▂▃▃▃▃▃▄▄▄▄▅▅▅▅▅▆▆▆▆▇▇▇▇▇████  100 reads, 1 MB\n"
              "    2         █████▇▇▇▇▆▆▆▆▆▅▅▅▅▄▄▄▄▄▃▃▃▃▂▂▂▂▂▁▁▁▁  100 reads, 1 MB\n"
              "              reversed, 0 % at the same place\n"
              "\n"
              "  · whether the content was the same is not known; `record --content=hash`\n"
              "    keeps that\n"
              "  · what a program shuffles in its own memory after reading does not show in\n"
              "    its reads\n");
}

TEST(Pattern, by_content_is_said_where_it_says_more) {
    std::vector<Access> accesses = two_passes(reverse, true);
    const std::string same = pattern_text(answer_of(accesses), 80);
    EXPECT_NE(same.find("  by content  as by place: what stood at each place did not change\n"),
              std::string::npos)
        << same;
    for (std::size_t i = kRecords; i < accesses.size(); ++i) {  // the file was written anew
        accesses[i].offset = (i - kRecords) * kRecordBytes;
    }
    const std::string anew = pattern_text(answer_of(accesses), 80);
    EXPECT_NE(anew.find("              same order\n  by content  2 passes\n"), std::string::npos)
        << anew;
    EXPECT_NE(anew.find("              reversed, 0 % at the same place\n"), std::string::npos)
        << anew;
}

TEST(Pattern, says_what_it_cannot_know) {
    PatternAnswer answer = answer_of(two_passes(reverse, true));
    answer.mappings = 1;
    answer.groups_left_out = 3;
    answer.groups[0].threads = 4;
    answer.groups[0].uncertain = 2;
    answer.groups[0].pattern.sampled_one_in = 8;
    answer.groups[0].pattern.kept_of_first = 5000;
    const std::string text = pattern_text(answer, 200);
    for (const char* note :
         {"  · 4 threads took turns here; --by thread tells them apart\n",
          "  · the place of 2 reads is uncertain: calls overlapped\n",
          "  · sizes, coverage and passes are of a sample, one place in 8\n",
          "  · sizes, coverage and passes are of the first 5,000 reads\n",
          "  · 3 groups that did less are left out\n",
          "  · mapped into memory 1 time: what moves through a mapping does not show\n"}) {
        EXPECT_NE(text.find(note), std::string::npos) << note << text;
    }
}

TEST(Pattern, as_json_has_the_points_and_the_orders) {
    const auto json = base::Json::parse(pattern_json(answer_of(two_passes(reverse, true))));
    ASSERT_TRUE(json.ok()) << json.error().text();
    const base::Json& group = json.value().items_at("groups")[0];
    EXPECT_EQ(group.get<std::string>("pattern").value(), "mixed");
    EXPECT_EQ(group.find("steps")->get<std::uint64_t>("reversed").value(), kRecords - 1);
    const base::Json& second = group.find("by_place")->items_at("passes")[1];
    const base::Json* beside = second.find("beside_previous");
    EXPECT_EQ(beside->get<std::string>("order").value(), "reversed");
    EXPECT_EQ(beside->get<double>("distance").value(), 1.0);
    EXPECT_EQ(second.items_at("sketch").size(), PatternAnswer::kSketchPoints);
    const auto& points = group.items_at("points");
    ASSERT_EQ(points.size(), 2 * kRecords);
    EXPECT_EQ(points.back().text(), "[199000000,0,0,10000,2]");
}

TEST(Pattern, draws_so_many_points_and_no_more) {
    std::vector<Access> accesses;
    for (std::uint64_t i = 0; i < 3 * PatternAnswer::kPointsMax; ++i) {
        accesses.push_back({.offset = i * 10, .bytes = 10, .start_ns = i});
    }
    const PatternAnswer answer = answer_of(accesses);
    EXPECT_EQ(answer.groups[0].points.size(), PatternAnswer::kPointsMax);
    EXPECT_EQ(answer.groups[0].points[1].at_ns, 3u) << "thinned out evenly";
    EXPECT_TRUE(answer.groups[0].pattern.kept.empty());
}

TEST(Pattern, draws_the_first_passes_only) {
    std::vector<Access> accesses;
    for (std::uint64_t i = 0; i < 4 * (PatternAnswer::kSketchesMax + 5); ++i) {
        accesses.push_back({.offset = i % 4 * 10, .bytes = 10});
    }
    const PatternAnswer answer = answer_of(accesses);
    EXPECT_EQ(answer.groups[0].pattern.by_place.passes.size(), PatternAnswer::kSketchesMax + 5);
    EXPECT_EQ(answer.groups[0].by_place.size(), PatternAnswer::kSketchesMax);
    EXPECT_NE(pattern_text(answer, 80).find("… and 59 more; --json has them all"),
              std::string::npos);
}

}  // namespace
}  // namespace dyetrace::reports
