#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "base/json.h"
#include "base/text.h"
#include "reports/similar/similar_answer.h"

namespace dyetrace::reports {
namespace {

SimilarItem item(std::uint64_t id, const std::string& name, std::uint32_t trace = 0) {
    return {id, trace, name, 200'000, 180};
}

SimilarAnswer answer() {
    SimilarAnswer answer;
    answer.traces = {"demo"};
    answer.compared = 41;
    answer.unknown = 3;
    answer.subject = item(1, "/data/a");
    SimilarPair pair;
    pair.a = *answer.subject;
    pair.b = item(UINT64_MAX, "/data/copies/of/a/with/a/name/that/is/long/enough/to/be/cut");
    pair.equal = true;
    pair.jaccard = pair.a_in_b = pair.b_in_a = {1, 1, 1};
    pair.shared_bytes = 200'000;
    answer.pairs.push_back(pair);
    pair.b = item(3, "/data/b\x1b[2J");
    pair.equal = false;
    pair.jaccard = {0.6044, 0.5319, 0.6727};
    pair.a_in_b = {0.743, 0.66, 0.81};
    pair.b_in_a = {0.9999, 0.97, 1};
    pair.shared_bytes = 148'633;
    answer.pairs.push_back(pair);
    return answer;
}

TEST(SimilarText, lists_what_resembles_it_with_the_error) {
    EXPECT_EQ(similar_text(answer(), 80),
              "  /data/a · 200 kB, 180 anchors\n"
              "\n"
              "  alike     95 %  of it  of that  shared  that\n"
              "  100 %    equal  100 %    100 %  200 kB  /data/copies/…is/long/enough/to/be/cut\n"
              "   60 %  53–68 %   74 %     99 %  149 kB  /data/b\\x1b[2J\n"
              "\n"
              "  41 objects compared; of 3 nothing is known, for they are too small.\n");
}

TEST(SimilarText, fits_the_width_and_is_cut_after_a_screen) {
    SimilarAnswer many = answer();
    while (many.pairs.size() < 100) {
        many.pairs.push_back(many.pairs[0]);
    }
    for (const std::size_t width : {80u, 120u}) {
        std::istringstream lines(similar_text(many, width));
        for (std::string line; std::getline(lines, line);) {
            EXPECT_LE(base::display_width(line), width) << line;
        }
    }
    EXPECT_NE(similar_text(many, 80).find("… and 70 more; --json has them"), std::string::npos);
}

TEST(SimilarText, of_pairs_names_both_and_their_traces) {
    SimilarAnswer pairs = answer();
    pairs.traces = {"monday", "tuesday"};
    pairs.subject.reset();
    pairs.pairs.erase(pairs.pairs.begin());
    pairs.pairs[0].b.trace = 1;
    const std::string text = similar_text(pairs, 80);
    EXPECT_NE(text.find("monday: /data/a\n"), std::string::npos) << text;
    EXPECT_NE(text.find("tuesday: /data/b"), std::string::npos) << text;
    pairs.pairs.clear();
    EXPECT_NE(similar_text(pairs, 80).find("Nothing resembles it that much."), std::string::npos);
}

TEST(SimilarText, says_that_without_anchors_only_equality_is_known) {
    SimilarAnswer small = answer();
    small.subject->anchors = 0;
    small.same_name = 2;
    EXPECT_NE(similar_text(small, 80).find("It has no anchors: only what is equal can be found."),
              std::string::npos);
    EXPECT_NE(similar_text(small, 80).find("2 objects had this name; this one, 1, has most"),
              std::string::npos);
}

TEST(SimilarJson, is_an_object_per_pair_with_ids_as_text) {
    const std::string lines = similar_json(answer());
    EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2);
    const auto first = base::Json::parse(lines.substr(0, lines.find('\n')));
    ASSERT_TRUE(first.ok());
    EXPECT_TRUE(first.value().get<bool>("is_equal").value());
    EXPECT_NE(lines.find(R"("id":"18446744073709551615")"), std::string::npos);
    EXPECT_NE(lines.find(R"("jaccard":0.6044,"jaccard_low":0.5319,"jaccard_high":0.6727)"),
              std::string::npos)
        << lines;
}

}  // namespace
}  // namespace dyetrace::reports
