#include "capture/byte_pattern.h"

#include <gtest/gtest.h>
#include <regex.h>

#include <algorithm>
#include <random>
#include <string>

#include "base/file.h"
#include "base/sanitized.h"

namespace dyetrace::capture {
namespace {

constexpr Ends kOpenBefore{true, false}, kOpenAfter{false, true}, kOpen{true, true};

// The text with each byte that was found as '*'.
std::string hidden(std::string_view pattern, std::string text, Ends ends = {}) {
    const auto parsed = BytePattern::parse(pattern);
    if (!parsed.ok()) {
        return parsed.error().text();
    }
    std::vector<Stretch> found;
    parsed.value().find(base::bytes_of(text), ends, found);
    for (const auto& [from, to] : found) {
        text.replace(from, to - from, to - from, '*');
    }
    return text;
}

TEST(BytePattern, finds_all_bytes_of_all_matches) {
    EXPECT_EQ(hidden("abc", "xabcabcx"), "x******x");
    EXPECT_EQ(hidden("aba", "ababa aa"), "***** aa") << "overlapping ones too";
    EXPECT_EQ(hidden("[0-9]{4}", "ab12345c 123"), "ab*****c 123");
    EXPECT_EQ(hidden("k.y|no", "key no kay k\ny"), "*** ** *** k\ny");
    EXPECT_EQ(hidden("x*", "aaxa"), "aa*a") << "a match of no bytes is none";
    EXPECT_EQ(hidden("(a|b)+c{2,3}d?", "xabbaccccd"), "x*******cd");
    EXPECT_EQ(hidden("pass(word)?=\\S+", "a password=x1 b"), "a *********** b");
    EXPECT_EQ(hidden("(?i)key: [a-f]+", "KEY: dEaf keY: z"), "********* keY: z");
    EXPECT_EQ(hidden("[^-]-[]x-]", "a--b-]"), "******") << "brackets";
    EXPECT_EQ(hidden("[[:digit:]\\x41]+\\.", "12A. 3"), "**** 3");
    EXPECT_EQ(hidden("a{,b", "a{,b"), "****") << "a brace that counts nothing";
    EXPECT_EQ(hidden("BEGIN[^-]*END", "BEGIN\nMII\nEND."), "*************.") << "over lines";
    EXPECT_EQ(hidden(std::string("a\0b", 3), std::string("xa\0b", 4)), "x***");
}

TEST(BytePattern, knows_where_lines_begin_and_end) {
    EXPECT_EQ(hidden("^key$", "key\nkeys\nkey"), "***\nkeys\n***");
    EXPECT_EQ(hidden("(^a|b$)+", "aab\nba"), "*a*\nba");
}

TEST(BytePattern, says_what_could_be_part_of_a_match) {
    EXPECT_EQ(hidden("secret", "the sec", kOpenAfter), "the ***");
    EXPECT_EQ(hidden("secret", "ret is out", kOpenBefore), "*** is out");
    EXPECT_EQ(hidden("secret", "cre", kOpen), "***");
    EXPECT_EQ(hidden("secret", "cre", kOpenBefore), "cre");
    EXPECT_EQ(hidden("[0-9]{13,16}", "12 and 34", kOpen), "** and **");
    EXPECT_EQ(hidden("BEGIN[^-]*END", "x BEGIN y", kOpenAfter), "x *******");
    EXPECT_EQ(hidden("BEGIN[^-]*END", "y END x", kOpenBefore), "***** x");
}

TEST(BytePattern, knows_its_longest_match) {
    const auto longest = [](std::string_view text) {
        return BytePattern::parse(text).value().longest_match();
    };
    EXPECT_EQ(longest("[0-9]{13,16}"), 16u);
    EXPECT_EQ(longest("(ab|c)?d{2}"), 4u);
    EXPECT_EQ(longest("ab*"), SIZE_MAX);
}

TEST(BytePattern, refuses_what_makes_no_sense) {
    for (const char* text : {"",
                             "a**(",
                             "(",
                             "a)",
                             "[a",
                             "[b-a]",
                             "*a",
                             "a{2,1}",
                             "a{1001}",
                             "a{2",
                             "\\",
                             "\\1",
                             "\\b",
                             "\\x4",
                             "[[:letter:]]",
                             "(?=a)",
                             "^$",
                             "((a{1000}){1000}){1000}",
                             "(a?){1000}{1000}"}) {
        const auto parsed = BytePattern::parse(text);
        ASSERT_FALSE(parsed.ok()) << text;
        EXPECT_EQ(parsed.error().text().find('\n'), std::string::npos);
    }
    EXPECT_FALSE(BytePattern::parse(std::string(BytePattern::kDepthMax + 1, '(')).ok());
    EXPECT_FALSE(BytePattern::parse("a" + std::string(BytePattern::kDepthMax + 1, '*')).ok());
    EXPECT_FALSE(BytePattern::parse(std::string(BytePattern::kStatesMax + 1, 'a')).ok());
}

// With backtracking each of these takes longer than the universe has been there.
TEST(BytePattern, takes_no_longer_for_what_is_meant_to_take_long) {
    const std::string text(base::kIsSanitized ? 20'000 : 200'000, 'a');
    EXPECT_EQ(hidden("(a*)*b", text), text);
    EXPECT_EQ(hidden("(a|a|aa)+$", text + "b"), text + "b");
    EXPECT_EQ(hidden("(a|aa){1,50}b", text), text);
    EXPECT_EQ(hidden("a+", text), std::string(text.size(), '*'));
}

std::string random_pattern(std::mt19937& random, int depth) {
    std::string pattern;
    for (std::uint32_t i = 0; i < 1 + random() % 3; ++i) {
        switch (random() % (depth > 0 ? 6 : 3)) {
            case 0:
                pattern += "[ab]";
                break;
            case 1:
                pattern += '.';
                break;
            case 2:
                pattern += "abc"[random() % 3];
                break;
            case 3:
                pattern += "(" + random_pattern(random, depth - 1) + "|" +
                           random_pattern(random, depth - 1) + ")";
                break;
            default:
                pattern += "(" + random_pattern(random, depth - 1) + ")";
        }
        static const char* const kCounts[] = {"", "", "", "*", "+", "?", "{2}", "{1,3}", "{2,}"};
        pattern += kCounts[random() % std::size(kCounts)];
    }
    return pattern;
}

// All bytes of all matches, with an expression of the C library that has to match the whole of each part of the text.
std::string hidden_by_regexec(const std::string& pattern, const std::string& text) {
    regex_t regex;
    EXPECT_EQ(regcomp(&regex, ("^(" + pattern + ")$").c_str(), REG_EXTENDED | REG_NOSUB), 0);
    std::string out = text;
    for (std::size_t from = 0; from < text.size(); ++from) {
        for (std::size_t to = from + 1; to <= text.size(); ++to) {
            if (regexec(&regex, text.substr(from, to - from).c_str(), 0, nullptr, 0) == 0) {
                out.replace(from, to - from, to - from, '*');
            }
        }
    }
    regfree(&regex);
    return out;
}

TEST(BytePattern, finds_what_the_C_library_finds) {
    std::mt19937 random(5);
    for (int round = 0; round < 300; ++round) {
        const std::string pattern = random_pattern(random, 2);
        std::string text(1 + random() % 12, ' ');
        std::generate(text.begin(), text.end(), [&] { return "abcd"[random() % 4]; });
        const std::string expected = hidden_by_regexec(pattern, text);
        if (BytePattern::parse(pattern).ok()) {
            ASSERT_EQ(hidden(pattern, text), expected) << pattern << " in " << text;
        } else {
            ASSERT_EQ(expected, text) << pattern;
        }
    }
}

// Whatever is around a piece: what the whole hides of it, the piece by itself hides with open ends.
TEST(BytePattern, finds_with_open_ends_whatever_may_be_around) {
    std::mt19937 random(6);
    for (int round = 0; round < 2'000; ++round) {
        const std::string pattern = random_pattern(random, 2);
        std::string text(3 + random() % 15, ' ');
        std::generate(text.begin(), text.end(), [&] { return "abc"[random() % 3]; });
        if (!BytePattern::parse(pattern).ok()) {
            continue;
        }
        const std::size_t from = random() % text.size();
        const std::size_t size = 1 + random() % (text.size() - from);
        const std::string whole = hidden(pattern, text).substr(from, size);
        const std::string piece = hidden(pattern, text.substr(from, size), kOpen);
        for (std::size_t i = 0; i < size; ++i) {
            ASSERT_TRUE(whole[i] != '*' || piece[i] == '*')
                << pattern << " in " << text << " from " << from;
        }
    }
}

}  // namespace
}  // namespace dyetrace::capture
