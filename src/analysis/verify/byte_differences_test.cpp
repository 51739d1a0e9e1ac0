#include "analysis/verify/byte_differences.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "analysis/verify/copy_cases.h"

namespace dyetrace::analysis {
namespace {

std::string text_of(const std::vector<std::byte>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The reference's stretch begins at 1,000, the copy's at 5,000.
ByteDifferences differences(std::string_view reference, std::string_view copy) {
    const Stretch stretch{1000, 1000 + reference.size(), 5000, 5000 + copy.size()};
    return byte_differences(
        stretch, std::as_bytes(std::span(reference)), std::as_bytes(std::span(copy)));
}

std::string told(std::string_view reference, std::string_view copy) {
    std::string text;
    for (const ByteDifference& place : differences(reference, copy).places) {
        text += fmt::format("{}-{} {}-{} '{}' '{}'\n",
                            place.begin,
                            place.end,
                            place.copy_begin,
                            place.copy_end,
                            text_of(place.old_bytes),
                            text_of(place.new_bytes));
    }
    return text;
}

TEST(ByteDifferences, name_each_place_with_what_was_there_and_what_is) {
    EXPECT_EQ(told("abcdefgh", "Xbcd12gY"),
              "1000-1001 5000-5001 'a' 'X'\n"
              "1004-1006 5004-5006 'ef' '12'\n"
              "1007-1008 5007-5008 'h' 'Y'\n");
    EXPECT_EQ(told("abc", "abc"), "");
}

TEST(ByteDifferences, name_what_was_put_in_or_taken_out) {
    EXPECT_EQ(told("abcd", "abXcd"), "1002-1002 5002-5003 '' 'X'\n");
    EXPECT_EQ(told("abcd", "abd"), "1002-1003 5002-5002 'c' ''\n");
    EXPECT_EQ(told("abcd", "a12345d"), "1001-1003 5001-5006 'bc' '12345'\n");
    EXPECT_EQ(told("aaaa", "aaa"), "1003-1004 5003-5003 'a' ''\n");
    EXPECT_EQ(told("", "x"), "1000-1000 5000-5001 '' 'x'\n");
}

TEST(ByteDifferences, of_one_flipped_bit_anywhere_are_that_byte) {
    const std::string reference = random_bytes(3000, 5);
    for (std::size_t at = 0; at < reference.size(); at += at < 5 || at > 2990 ? 1 : 271) {
        std::string copy = reference;
        copy[at] = static_cast<char>(copy[at] ^ 0x10);
        const ByteDifferences found = differences(reference, copy);
        ASSERT_EQ(found.places.size(), 1u) << at;
        EXPECT_EQ(found.places[0].begin, 1000 + at);
        EXPECT_EQ(found.places[0].end, 1001 + at);
        EXPECT_EQ(text_of(found.places[0].old_bytes), reference.substr(at, 1));
        EXPECT_EQ(text_of(found.places[0].new_bytes), copy.substr(at, 1));
        EXPECT_EQ(found.old_bytes, 1u);
    }
}

TEST(ByteDifferences, are_all_counted_and_the_first_ones_kept) {
    const std::string zeros(4 * kPlacesKept, '0');
    std::string copy = zeros;
    for (std::size_t at = 0; at < copy.size(); at += 2) {
        copy[at] = '1';
    }
    const ByteDifferences many = differences(zeros, copy);
    EXPECT_EQ(many.places.size(), kPlacesKept);
    EXPECT_EQ(many.places_left_out, kPlacesKept);
    EXPECT_EQ(many.new_bytes, 2 * kPlacesKept);
    const ByteDifferences one = differences(zeros, std::string(zeros.size(), '1'));
    ASSERT_EQ(one.places.size(), 1u);
    EXPECT_EQ(one.places[0].old_bytes.size(), kDifferenceBytesKept);
    EXPECT_EQ(one.old_bytes, zeros.size());
}

TEST(Strip, knows_the_sum_between_two_cuts) {
    Moved moved;
    const std::string content = random_bytes(20'000, 3);
    const Strip strip = moved.strip(content, {4096, 777}, 100);
    ASSERT_GT(strip.cuts().size(), 10u);
    for (const Cut& to : strip.cuts()) {
        const std::size_t size = to.position - strip.begin();
        EXPECT_EQ(strip.sum_of(strip.begin(), to.position),
                  content::content_sum(std::as_bytes(std::span(content)).first(size)));
    }
    EXPECT_EQ(strip.sum_of(strip.begin() + 1, strip.end()), std::nullopt);
    EXPECT_EQ(strip.sum_of(strip.begin(), strip.end() + 1), std::nullopt);
}

}  // namespace
}  // namespace dyetrace::analysis
