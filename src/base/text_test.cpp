#include "base/text.h"

#include <gtest/gtest.h>

#include <limits>

namespace dyetrace::base {
namespace {

constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();

TEST(Text, separates_thousands) {
    EXPECT_EQ(with_separators(0), "0");
    EXPECT_EQ(with_separators(999), "999");
    EXPECT_EQ(with_separators(1000), "1,000");
    EXPECT_EQ(with_separators(214883), "214,883");
    EXPECT_EQ(with_separators(kMost), "18,446,744,073,709,551,615");
    EXPECT_EQ(counted(0, "event"), "0 events");
    EXPECT_EQ(counted(1, "event"), "1 event");
    EXPECT_EQ(counted(214883, "event"), "214,883 events");
}

TEST(Text, writes_bytes_in_decimal_units) {
    EXPECT_EQ(bytes_text(0), "0 B");
    EXPECT_EQ(bytes_text(999), "999 B");
    EXPECT_EQ(bytes_text(1000), "1 kB");
    EXPECT_EQ(bytes_text(3'100'000), "3.1 MB");
    EXPECT_EQ(bytes_text(9'949'999), "9.9 MB");
    EXPECT_EQ(bytes_text(9'950'000), "10 MB");
    EXPECT_EQ(bytes_text(214'000'000), "214 MB");
    EXPECT_EQ(bytes_text(999'600), "1 MB") << "rounding never shows 1000 kB";
    EXPECT_EQ(bytes_text(kMost), "18 EB");
}

TEST(Text, writes_durations_as_people_say_them) {
    EXPECT_EQ(duration_text(0), "0 ns");
    EXPECT_EQ(duration_text(14'200), "14 µs");
    EXPECT_EQ(duration_text(999'700), "1 ms");
    EXPECT_EQ(duration_text(22'000'000), "22 ms");
    EXPECT_EQ(duration_text(2'300'000'000), "2.3 s");
    EXPECT_EQ(duration_text(59'400'000'000), "59 s");
    EXPECT_EQ(duration_text(59'500'000'000), "1m00s");
    EXPECT_EQ(duration_text(161'000'000'000), "2m41s");
    EXPECT_EQ(duration_text(3'599'600'000'000), "1h00m");
    EXPECT_EQ(duration_text(11'100'000'000'000), "3h05m");
}

TEST(Text, writes_fractions_as_percent) {
    EXPECT_EQ(percent_text(0), "0 %");
    EXPECT_EQ(percent_text(0.0123), "1.2 %");
    EXPECT_EQ(percent_text(0.583), "58 %");
    EXPECT_EQ(percent_text(1), "100 %");
}

TEST(Text, bytes_have_two_digits_each) {
    const std::byte bytes[] = {std::byte{0}, std::byte{0x0d}, std::byte{0xff}};
    EXPECT_EQ(hex_text(bytes), "000dff");
    EXPECT_EQ(hex_text({}), "");
}

TEST(Text, lower_changes_ascii_letters_only) {
    EXPECT_EQ(lower("Content-Type Z[Ä]"), "content-type z[Ä]");
}

TEST(Text, cuts_after_a_whole_character) {
    EXPECT_EQ(beginning("plain", 3), "pla");
    EXPECT_EQ(beginning("plain", 9), "plain");
    EXPECT_EQ(beginning("14 µs", 4), "14 ") << "µ takes two bytes";
    EXPECT_EQ(beginning("14 µs", 5), "14 µ");
    EXPECT_EQ(beginning("数", 2), "");
}

TEST(Text, measures_what_a_terminal_shows) {
    EXPECT_EQ(display_width("plain"), 5u);
    EXPECT_EQ(display_width("14 µs"), 5u);
    EXPECT_EQ(display_width("数据"), 4u);
    EXPECT_EQ(display_width("e\u0301"), 1u) << "an accent stands on its letter";
    EXPECT_EQ(display_width("😀"), 2u);
    EXPECT_EQ(display_width("\xff\xfe"), 2u) << "bytes that are not UTF-8";
    EXPECT_EQ(display_width("\xe6\x95"), 2u) << "a character cut in half";
}

TEST(Text, truncates_to_a_width_between_characters) {
    EXPECT_EQ(truncated("/var/log", 8), "/var/log");
    EXPECT_EQ(truncated("/var/log", 5), "/var…");
    EXPECT_EQ(truncated("数据库", 6), "数据库");
    EXPECT_EQ(truncated("数据库", 4), "数…");
    EXPECT_EQ(truncated("abc", 1), "…");
    EXPECT_EQ(truncated("abc", 0), "");
}

TEST(Text, aligns_to_exactly_the_width) {
    EXPECT_EQ(left_aligned("ab", 4) + "|", "ab  |");
    EXPECT_EQ(right_aligned("µs", 4), "  µs");
    EXPECT_EQ(left_aligned("数据库", 4) + "|", "数… |");
    EXPECT_EQ(right_aligned("/var/log", 5), "/var…");
}

TEST(Text, is_wrapped_at_blanks) {
    EXPECT_EQ(wrapped("· µs and more words", 8, "  "), "· µs and\n  more\n  words");
    EXPECT_EQ(wrapped("a verylongword b", 5, ""), "a\nverylongword\nb");
    EXPECT_EQ(wrapped("", 5, "  "), "");
}

}  // namespace
}  // namespace dyetrace::base
