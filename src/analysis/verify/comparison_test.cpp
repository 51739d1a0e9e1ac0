#include "analysis/verify/comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "analysis/verify/copy_cases.h"

namespace dyetrace::analysis {
namespace {

const std::string kContent = random_bytes(50'000, 1);

class ComparisonTest : public ::testing::Test {
  protected:
    StripComparison compare_with(const std::string& copy, const std::vector<std::size_t>& sizes) {
        return compare_strips(moved_.strip(kContent, {4096}), moved_.strip(copy, sizes));
    }
    Moved moved_;
};

TEST_F(ComparisonTest, the_same_bytes_are_equal_however_they_were_cut) {
    for (const auto& sizes :
         std::vector<std::vector<std::size_t>>{{4096}, {50'000}, {7, 500, 33}, {1009}}) {
        const StripComparison found = compare_with(kContent, sizes);
        EXPECT_TRUE(found.stretches.empty());
        EXPECT_EQ(found.compared_bytes, kContent.size());
        EXPECT_EQ(found.unknown_bytes, 0u);
    }
}

TEST_F(ComparisonTest, a_flipped_bit_is_in_one_short_stretch_wherever_it_is) {
    for (std::size_t at = 0; at < kContent.size();
         at += at < 40 || (at > 4080 && at < 4110) ? 1 : 677) {
        std::string copy = kContent;
        copy[at] = static_cast<char>(copy[at] ^ 1 << at % 8);
        const StripComparison found = compare_with(copy, {10'007});
        ASSERT_EQ(found.stretches.size(), 1u) << at;
        const Stretch& stretch = found.stretches.front();
        EXPECT_EQ(stretch.outcome, Outcome::kChanged) << at;
        EXPECT_LE(stretch.begin, at);
        EXPECT_GT(stretch.end, at);
        EXPECT_LT(stretch.end - stretch.begin, 16u * 256) << at;  // 16 times the mean distance
        EXPECT_EQ(stretch.copy_begin, stretch.begin);
        EXPECT_EQ(found.compared_bytes, kContent.size());
    }
}

TEST_F(ComparisonTest, the_last_byte_too) {
    std::string copy = kContent;
    copy.back() = static_cast<char>(copy.back() ^ 0x80);
    const StripComparison found = compare_with(copy, {4096});
    ASSERT_EQ(found.stretches.size(), 1u);
    EXPECT_EQ(found.stretches.front().end, kContent.size());
}

TEST_F(ComparisonTest, bytes_that_were_put_in_or_taken_out_make_a_stretch_longer_or_shorter) {
    std::string copy = kContent;
    copy.insert(20'000, "+");
    const StripComparison more = compare_with(copy, {4096});
    ASSERT_EQ(more.stretches.size(), 1u);
    const Stretch& stretch = more.stretches.front();
    EXPECT_EQ(stretch.outcome, Outcome::kResized);
    EXPECT_LE(stretch.begin, 20'000u);
    EXPECT_GE(stretch.end, 20'000u);
    EXPECT_EQ(stretch.copy_end - stretch.copy_begin, stretch.end - stretch.begin + 1);
    const StripComparison less =
        compare_with(kContent.substr(0, 30'000) + kContent.substr(30'100), {777});
    ASSERT_EQ(less.stretches.size(), 1u);
    EXPECT_EQ(less.stretches.front().copy_end - less.stretches.front().copy_begin + 100,
              less.stretches.front().end - less.stretches.front().begin);
}

TEST_F(ComparisonTest, after_a_header_all_but_the_ends_is_compared) {
    const StripComparison found =
        compare_strips(moved_.strip(kContent, {4096}),
                       moved_.strip("header" + kContent + "trailer", {5000}, 1'000'000));
    ASSERT_EQ(found.stretches.size(), 2u);
    EXPECT_EQ(found.stretches[0].outcome, Outcome::kNotCompared);
    EXPECT_EQ(found.stretches[0].begin, 0u);
    EXPECT_EQ(found.stretches[1].end, kContent.size());
    EXPECT_EQ(found.compared_bytes + found.unknown_bytes, kContent.size());
    EXPECT_LT(found.unknown_bytes, 8192u);
    EXPECT_EQ(found.place_of(20'000), 1'020'006u);
}

// Heads of 8 bytes, each before so many others.
std::string framed(std::string_view content, unsigned bytes = 4000) {
    std::string result;
    for (unsigned at = 0; at < content.size(); at += bytes) {
        result += random_bytes(8, at + 7);
        result += content.substr(at, bytes);
    }
    return result;
}

TEST_F(ComparisonTest, all_is_compared_where_frames_were_put_in_by_calls_of_their_own) {
    for (const unsigned bytes : {100u, 300u, 4000u}) {
        const Strip plain = moved_.strip(kContent, {bytes});
        const Strip frames = moved_.strip(framed(kContent, bytes), {8, bytes});
        const StripComparison found = compare_strips(plain, frames);
        EXPECT_EQ(found.unknown_bytes, 0u) << bytes;
        EXPECT_EQ(found.compared_bytes, kContent.size());
        EXPECT_GT(found.stretches.size(), 10u);
        for (const Stretch& stretch : found.stretches) {
            EXPECT_TRUE(stretch.has_all()) << bytes << " " << stretch.begin;
        }
    }
}

TEST_F(ComparisonTest, all_but_the_frames_is_compared_where_they_were_taken_out) {
    const StripComparison found =
        compare_strips(moved_.strip(framed(kContent), {8, 4000}), moved_.strip(kContent, {4000}));
    EXPECT_EQ(found.unknown_bytes, 0u)
        << "a copy that begins after the first head lacks nothing that it moved";
    ASSERT_EQ(found.stretches.size(), 13u);
    for (const Stretch& stretch : std::span(found.stretches).subspan(1)) {
        EXPECT_EQ(stretch.same_bytes + 8, stretch.end - stretch.begin);
    }
}

TEST_F(ComparisonTest, beside_a_frame_a_changed_byte_is_not_the_same) {
    for (const std::size_t at : {7'990u, 8'010u}) {
        std::string changed = kContent;
        changed[at] = static_cast<char>(changed[at] ^ 4);
        const StripComparison found = compare_strips(moved_.strip(kContent, {4000}),
                                                     moved_.strip(framed(changed), {8, 4000}));
        const auto stretch =
            std::find_if(found.stretches.begin(), found.stretches.end(), [&](const Stretch& one) {
                return one.begin <= at && at < one.end;
            });
        ASSERT_NE(stretch, found.stretches.end());
        EXPECT_FALSE(stretch->has_all());
        EXPECT_EQ(std::count_if(found.stretches.begin(),
                                found.stretches.end(),
                                [](const Stretch& one) { return !one.has_all(); }),
                  1);
    }
}

TEST_F(ComparisonTest, a_call_that_moves_a_frame_and_data_does_not_show_which_is_which) {
    const StripComparison found =
        compare_strips(moved_.strip(kContent, {4000}), moved_.strip(framed(kContent), {4008}));
    const auto whole = std::count_if(found.stretches.begin(),
                                     found.stretches.end(),
                                     [](const Stretch& one) { return one.has_all(); });
    EXPECT_EQ(whole, 2) << "an anchor ends where a frame does, by chance";
    EXPECT_EQ(found.stretches.size(), 13u);
}

TEST_F(ComparisonTest, over_bytes_that_nobody_saw_nothing_is_said) {
    std::vector<MovedPiece> pieces = moved_.pieces(kContent, {4096});
    pieces[4].sum.reset();
    const StripComparison found =
        compare_strips(moved_.strip(kContent, {4096}), Strip(std::move(pieces)));
    ASSERT_EQ(found.stretches.size(), 1u);
    EXPECT_EQ(found.stretches.front().outcome, Outcome::kNotCompared);
    EXPECT_LE(found.stretches.front().begin, 4u * 4096);
    EXPECT_GE(found.stretches.front().end, 5u * 4096);
}

TEST_F(ComparisonTest, bytes_that_repeat_are_compared_where_they_stand) {
    std::string repeated;
    for (int i = 0; i < 20; ++i) {
        repeated += kContent.substr(0, 2000);
    }
    std::string copy = repeated;
    copy[11'111] = static_cast<char>(copy[11'111] ^ 1);
    const StripComparison found =
        compare_strips(moved_.strip(repeated, {4096}), moved_.strip(copy, {1000}));
    ASSERT_EQ(found.stretches.size(), 1u);
    EXPECT_LE(found.stretches.front().begin, 11'111u);
    EXPECT_GT(found.stretches.front().end, 11'111u);
    EXPECT_LT(found.stretches.front().end - found.stretches.front().begin, 4000u);
}

TEST_F(ComparisonTest, other_content_is_not_compared) {
    const StripComparison found = compare_with(random_bytes(40'000, 2), {4096});
    EXPECT_EQ(found.compared_bytes, 0u);
    EXPECT_EQ(found.unknown_bytes, 40'000u);
}

TEST_F(ComparisonTest, what_a_reader_never_moved_is_not_unknown) {
    for (const std::size_t bytes : {10'000u, 25'000u, 49'999u}) {
        const StripComparison found = compare_with(kContent.substr(0, bytes), {4096});
        EXPECT_EQ(found.compared_bytes + found.unknown_bytes, bytes);
        EXPECT_LT(found.unknown_bytes, 4096u);
    }
    std::vector<MovedPiece> pieces = moved_.pieces(kContent, {4096});
    pieces.erase(pieces.begin() + 2, pieces.begin() + 9);
    const StripComparison found =
        compare_strips(moved_.strip(kContent, {4096}), Strip(std::move(pieces)));
    EXPECT_EQ(found.compared_bytes + found.unknown_bytes, kContent.size() - 7 * 4096);
    EXPECT_LT(found.unknown_bytes, 8192u);
}

TEST(Strips, begin_anew_where_bytes_are_moved_again) {
    Moved moved;
    std::vector<MovedPiece> pieces = moved.pieces(kContent, {10'000});
    const std::vector<MovedPiece> again = moved.pieces(kContent.substr(0, 20'000), {20'000});
    pieces.insert(pieces.end(), again.begin(), again.end());
    const std::vector<Strip> strips = strips_of(pieces);
    ASSERT_EQ(strips.size(), 2u);
    EXPECT_EQ(strips[0].size(), 50'000u);
    EXPECT_EQ(strips[1].size(), 20'000u);
    EXPECT_EQ(strips[0].piece_at(29'999).event, 3u);
}

}  // namespace
}  // namespace dyetrace::analysis
