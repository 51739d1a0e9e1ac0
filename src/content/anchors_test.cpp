#include "content/anchors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/random_bytes.h"

namespace dyetrace::content {
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

// Numbers that stand here, so that machines are held to the same ones.
TEST(AnchorRule, finds_these_on_every_machine) {
    const std::string bytes = random_bytes(100'000, 42);
    const std::vector<AnchorWindow> found = anchors(bytes);
    std::uint64_t positions = 0, fingerprints = 0;
    for (const AnchorWindow& one : found) {
        positions += one.position;
        fingerprints ^= one.fingerprint;
    }
    EXPECT_EQ(found.size(), 110u);
    EXPECT_EQ(found.front().position, 1025u);
    EXPECT_EQ(found.front().fingerprint, 1978131601331441026u);
    EXPECT_EQ(positions, 6378436u);
    EXPECT_EQ(fingerprints, 6021004523390835880u);
    const auto sketch = AnchorRule().sketch(std::as_bytes(std::span(bytes).first(1000)));
    ASSERT_TRUE(sketch);
    std::uint32_t windows = 0;
    for (const std::uint32_t one : sketch->windows) {
        windows ^= one;
    }
    EXPECT_EQ(sketch->windows.size(), 14u);
    EXPECT_EQ(windows, 2835568042u);
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

std::optional<WindowSketch> sketch(const std::string& bytes,
                                   const AnchorRule& rule = AnchorRule()) {
    return rule.sketch(std::as_bytes(std::span(bytes)));
}

std::set<std::uint32_t> windows_of(const WindowSketch& sketch, std::uint32_t least = 0) {
    const std::set<std::uint32_t> all(sketch.windows.begin(), sketch.windows.end());
    return {all.lower_bound(least), all.end()};
}

TEST(Sketch, is_of_operations_that_have_few_anchors) {
    EXPECT_FALSE(sketch(random_bytes(511, 7)));
    for (const auto& [size, distance] : {std::pair(512u, 64u),
                                         {4096u, 64u},
                                         {4097u, 128u},
                                         {8192u, 128u},
                                         {8193u, 256u},
                                         {16'385u, 512u},
                                         {32'768u, 512u}}) {
        const auto found = sketch(random_bytes(size, size));
        ASSERT_TRUE(found) << size;
        EXPECT_EQ(found->distance, distance) << size;
        const double expected = static_cast<double>(size) / distance;
        EXPECT_NEAR(static_cast<double>(found->windows.size()), expected, 5 * std::sqrt(expected))
            << size;
        EXPECT_FALSE(sketch(random_bytes(size, size), AnchorRule(distance)));
        EXPECT_TRUE(sketch(random_bytes(size, size), AnchorRule(distance + 1)));
    }
    EXPECT_FALSE(sketch(random_bytes(32'769, 7)));
}

// Two sizes, of which one contains the other: what is in the coarser sketch is what the finer one has at its level.
TEST(Sketch, of_a_part_has_at_the_level_of_the_whole_what_the_whole_has_there) {
    const std::string whole = random_bytes(30'000, 8), part = whole.substr(10'000, 4000);
    const auto fine = windows_of(*sketch(part), 3u << SKETCH_LEVEL_SHIFT);
    std::set<std::uint32_t> expected;
    const auto coarse = windows_of(*sketch(whole));
    for (const AnchorWindow& one : anchors(part, AnchorRule(512))) {
        expected.insert(3u << SKETCH_LEVEL_SHIFT |
                        (static_cast<std::uint32_t>(one.fingerprint) & 0x3fffffffu));
    }
    EXPECT_GT(expected.size(), 2u);
    EXPECT_EQ(fine, expected);
    EXPECT_TRUE(std::includes(coarse.begin(), coarse.end(), fine.begin(), fine.end()));
    EXPECT_EQ(*coarse.begin() >> SKETCH_LEVEL_SHIFT, 3u);
}

TEST(Sketch, of_bytes_without_windows_or_with_too_many_is_none) {
    EXPECT_FALSE(sketch(std::string(4096, 'x')));
    const std::string random = random_bytes(1 << 20, 9);
    std::string dense;
    for (const AnchorWindow& one : anchors(random, AnchorRule(64))) {
        dense += random.substr(one.position, ANCHOR_WINDOW);
    }
    EXPECT_FALSE(sketch(dense.substr(0, 4096)));
    EXPECT_TRUE(sketch(dense.substr(0, 2048)));
}

}  // namespace
}  // namespace dyetrace::content
