#include "schema/anchors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <string>

#include "base/random_bytes.h"

namespace dyetrace::schema {
namespace {

using base::random_bytes;

std::vector<AnchorWindow> anchors(const std::string& bytes, const AnchorRule& rule = AnchorRule()) {
    return rule.find(std::as_bytes(std::span(bytes)));
}

TEST(AnchorRule, has_them_at_the_stated_distance) {
    const std::string bytes = random_bytes(4u << 20, 1);
    for (const std::uint32_t distance : {256u, 1024u, 8192u}) {
        const double expected = static_cast<double>(bytes.size()) / distance;
        const double found = static_cast<double>(anchors(bytes, AnchorRule(distance)).size());
        EXPECT_NEAR(found, expected, 5 * std::sqrt(expected)) << distance;
    }
}

TEST(AnchorRule, finds_the_same_ones_wherever_the_bytes_stand) {
    const std::string piece = random_bytes(50'000, 2);
    const auto alone = anchors(piece);
    ASSERT_GT(alone.size(), 20u);
    for (const std::size_t shift : {1u, 31u, 32u, 1000u}) {
        std::vector<AnchorWindow> within;
        for (const AnchorWindow& one :
             anchors(random_bytes(shift, 3) + piece + random_bytes(777, 4))) {
            if (one.position >= shift && one.position + ANCHOR_WINDOW <= shift + piece.size()) {
                within.push_back({one.position - shift, one.fingerprint});
            }
        }
        EXPECT_EQ(within, alone) << shift;
    }
}

TEST(AnchorRule, fingerprint_is_that_of_the_window) {
    const std::string bytes = random_bytes(20'000, 5);
    for (const AnchorWindow& one : anchors(bytes)) {
        EXPECT_EQ(
            one.fingerprint,
            fingerprint(std::as_bytes(std::span(bytes)).subspan(one.position, ANCHOR_WINDOW)));
    }
}

TEST(AnchorRule, of_a_run_of_one_byte_has_none) {
    for (int byte = 0; byte < 256; ++byte) {
        for (const std::uint32_t distance : {64u, 1024u}) {
            EXPECT_TRUE(
                anchors(std::string(1000, static_cast<char>(byte)), AnchorRule(distance)).empty())
                << byte;
        }
    }
}

TEST(AnchorRule, of_bytes_that_repeat_does_not_repeat) {
    std::string text;
    for (int i = 0; i < 10'000; ++i) {
        text += "0123456789abcdef";  // 16 windows, each of which may be an anchor
    }
    for (std::uint64_t key = 0; key < 200; ++key) {
        const auto found = anchors(text, AnchorRule(64, ContentKey{{key, 0}}));
        std::set<std::uint64_t> different;
        for (const AnchorWindow& one : found) {
            different.insert(one.fingerprint);
        }
        if (different.size() <= 2) {
            EXPECT_EQ(found.size(), different.size()) << key;
        }
    }
}

TEST(AnchorRule, with_another_key_chooses_other_places) {
    const std::string bytes = random_bytes(1u << 20, 6);
    std::set<std::size_t> plain, keyed;
    for (const AnchorWindow& one : anchors(bytes)) {
        plain.insert(one.position);
    }
    for (const AnchorWindow& one : anchors(bytes, AnchorRule(1024, ContentKey{{1, 2}}))) {
        keyed.insert(one.position);
    }
    std::vector<std::size_t> both;
    std::set_intersection(
        plain.begin(), plain.end(), keyed.begin(), keyed.end(), std::back_inserter(both));
    EXPECT_LT(both.size(), 20u);  // one by chance is expected
    EXPECT_GT(keyed.size(), 800u);
}

}  // namespace
}  // namespace dyetrace::schema
