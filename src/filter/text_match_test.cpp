#include "filter/text_match.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace dyetrace::filter {
namespace {

// DuckDB's own algorithm: every run is tried at every place.
bool tried_like(std::string_view text, std::string_view pattern) {
    if (pattern.empty()) {
        return text.empty();
    }
    if (pattern[0] == '%') {
        for (std::size_t i = 0; i <= text.size(); ++i) {
            if (tried_like(text.substr(i), pattern.substr(1))) {
                return true;
            }
        }
        return false;
    }
    if (text.empty()) {
        return false;
    }
    std::size_t length = 1;
    while (pattern[0] == '_' && length < text.size() &&
           (static_cast<unsigned char>(text[length]) & 0xC0u) == 0x80u) {
        length += 1;
    }
    return (pattern[0] == '_' || pattern[0] == text[0]) &&
           tried_like(text.substr(length), pattern.substr(1));
}

std::string random_text(std::mt19937_64& random, std::string_view one_of_ascii) {
    std::string out;
    for (std::uint64_t n = random() % 8; n > 0; --n) {
        if (random() % 5 == 0) {
            out += "\xC3\xA9";
        } else {
            out += one_of_ascii[random() % one_of_ascii.size()];
        }
    }
    return out;
}

TEST(TextMatch, like_knows_characters_and_escapes) {
    EXPECT_TRUE(like("", "", {}));
    EXPECT_TRUE(like("", "%%", {}));
    EXPECT_FALSE(like("", "_", {}));
    EXPECT_TRUE(like("/var/log/a", "/var/%/a", {}));
    EXPECT_TRUE(like("a\xC3\xA9z", "a_z", {}));
    EXPECT_FALSE(like("\xC3\xA9", "__", {}));
    EXPECT_FALSE(like("\xC3\xA9", "%_%_", {}));
    EXPECT_TRUE(like("50%", "50!%", '!'));
    EXPECT_FALSE(like("500", "50!%", '!'));
    EXPECT_TRUE(like("a_b", "a!_b", '!'));
}

TEST(TextMatch, glob_knows_bytes_and_brackets) {
    EXPECT_TRUE(glob("/var/log/a", "/var/*"));
    EXPECT_TRUE(glob("", "*"));
    EXPECT_FALSE(glob("\xC3\xA9", "?"));
    EXPECT_TRUE(glob("\xC3\xA9", "??"));
    EXPECT_TRUE(glob("b", "[a-c]"));
    EXPECT_FALSE(glob("b", "[!a-c]"));
    EXPECT_TRUE(glob("]", "[]]"));
    EXPECT_FALSE(glob("a", "[a"));
    EXPECT_FALSE(glob("a", "[a-"));
    EXPECT_TRUE(glob("*", "\\*"));
    EXPECT_FALSE(glob("x", "\\*"));
    EXPECT_FALSE(glob("x", "x\\"));
    EXPECT_TRUE(glob("abcabd", "*ab?d") == false && glob("abcabxd", "*ab?d"));
}

TEST(TextMatch, ilike_ignores_case_as_lower_does) {
    EXPECT_TRUE(ilike("ReadMe", "readm_", {}));
    EXPECT_TRUE(ilike("\xE2\x84\xAA", "k", {}));
    EXPECT_TRUE(ilike("\xC4\xB0", "I", {}));
    EXPECT_FALSE(ilike("\xC3\x89", "e", {}));
}

TEST(TextMatch, finds_the_pattern_s_own_end) {
    EXPECT_TRUE(ends_in_escape("a!", '!'));
    EXPECT_FALSE(ends_in_escape("a!!", '!'));
    EXPECT_FALSE(ends_in_escape("", '!'));
}

TEST(TextMatch, retrying_the_last_run_is_enough) {
    constexpr std::uint64_t kSeed = 11;
    std::mt19937_64 random(kSeed);
    int matched = 0;
    for (int i = 0; i < 200'000; ++i) {
        const std::string text = random_text(random, "ab");
        const std::string pattern = random_text(random, "ab%%_");
        const bool expected = tried_like(text, pattern);
        ASSERT_EQ(like(text, pattern, {}), expected)
            << "seed " << kSeed << ": " << text << " LIKE " << pattern;
        matched += expected ? 1 : 0;
    }
    EXPECT_GT(matched, 10'000);
}

}  // namespace
}  // namespace dyetrace::filter
