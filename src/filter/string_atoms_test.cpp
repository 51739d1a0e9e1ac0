#include "filter/string_atoms.h"

#include <gtest/gtest.h>
#include <linux/types.h>

#include <cstring>
#include <random>
#include <string>

#include "filter/predicate.h"
#include "schema/shared/filter_match.h"
#include "schema/text.h"

namespace dyetrace::filter {
namespace {

// '1' and '0' as the kernel matches the bytes, '?' where it leaves the answer to user space, '-' where it is not asked.
char matched(std::string_view condition, std::string_view bytes) {
    const Predicate predicate = Predicate::parse(condition).value();
    const auto atom = atom_of(predicate.expression());
    if (!atom) {
        return '-';
    }
    std::vector<__u8> text(MATCH_TEXT_BYTES);
    std::memcpy(text.data(), bytes.data(), bytes.size());
    const auto length = static_cast<__u32>(bytes.size());
    const int plain = match_is_plain(text.data(), length);
    match_position position{};
    switch (match_text(&*atom, text.data(), length, plain, &position)) {
        case MATCH_NO:
            return '0';
        case MATCH_YES:
            return '1';
        default:
            return '?';
    }
}

TEST(StringAtoms, decide_in_the_kernel_what_bytes_can_tell) {
    EXPECT_EQ(matched("path = '/a'", "/a"), '1');
    EXPECT_EQ(matched("path = '/a'", "/ab"), '0');
    EXPECT_EQ(matched("path = '/\xC3\xA9\\\\'", "/\xC3\xA9\\"), '1');
    EXPECT_EQ(matched("path = '/\\xff'", "/\xff"), '1');
    EXPECT_EQ(matched("path = '/\\q'", "/\\q"), '0');  // nothing is shown so
    EXPECT_EQ(matched("path GLOB '/var/*'", "/var/\xff"), '1');
    EXPECT_EQ(matched("path GLOB '/var/*'", "/va"), '0');
    EXPECT_EQ(matched("path LIKE '/var/%'", "/var/\\"), '1');
    EXPECT_EQ(matched("starts_with(path, '/var')", "/var"), '1');
    EXPECT_EQ(matched("path GLOB '*.log'", "/a.log"), '1');
    EXPECT_EQ(matched("path GLOB '*ff'", "/\xff"), '?');
    EXPECT_EQ(matched("path GLOB '/a?c*z'", "/abcyz"), '1');
    EXPECT_EQ(matched("path ILIKE '%.LOG'", "/a.LoG"), '1');
    EXPECT_EQ(matched("contains(path, 'tmp')", "/x/tmp/y"), '1');
    EXPECT_EQ(matched("ends_with(path, '/y')", "/x/tmp/y"), '1');
    EXPECT_EQ(matched("path GLOB '/[ab]'", "/a"), '-');
    EXPECT_EQ(matched("path < '/a'", "/a"), '-');
    EXPECT_EQ(matched("path GLOB '" + std::string(300, 'x') + "'", "x"), '-');
}

TEST(StringAtoms, share_a_pattern_between_subjects) {
    StringAtoms atoms;
    const auto of = [](std::string_view condition) {
        return Predicate::parse(condition).value().expression();
    };
    EXPECT_EQ(atoms.number_of(of("path GLOB '/a*'"), FILTER_SUBJECT_PATH), 0u);
    EXPECT_EQ(atoms.number_of(of("path GLOB '/b*'"), FILTER_SUBJECT_PATH), 1u);
    EXPECT_EQ(atoms.number_of(of("exe LIKE '/a%'"), FILTER_SUBJECT_EXE), 0u);
    ASSERT_EQ(atoms.atoms().size(), 2u);
    EXPECT_EQ(atoms.atoms()[0].subjects, FILTER_SUBJECT_PATH | FILTER_SUBJECT_EXE);
    for (int i = 2; i < FILTER_ATOMS_MAX; ++i) {
        EXPECT_TRUE(
            atoms.number_of(of("path = '/" + std::to_string(i) + "'"), FILTER_SUBJECT_PATH));
    }
    EXPECT_FALSE(atoms.number_of(of("path = '/one more'"), FILTER_SUBJECT_PATH));
}

TEST(StringAtoms, give_up_on_a_pattern_that_takes_too_long) {
    std::string pattern = "path LIKE '%";
    for (int i = 0; i < 120; ++i) {
        pattern += "a";
    }
    const std::string text(MATCH_TEXT_BYTES, 'a');
    EXPECT_EQ(matched(pattern + "b'", text), '?');
    EXPECT_EQ(matched(pattern + "%'", text), '1');
}

// Where the kernel decides, it decides as the condition does over the text that is shown.
TEST(StringAtoms, agree_with_conditions_over_shown_text) {
    constexpr std::uint64_t kSeed = 41;
    std::mt19937_64 random(kSeed);
    const auto some = [&](std::string_view one_of, std::uint64_t longest) {
        std::string out;
        for (std::uint64_t n = random() % longest; n > 0; --n) {
            out += one_of[random() % one_of.size()];
        }
        return out;
    };
    constexpr std::string_view kConditions[] = {"path LIKE '",
                                                "path ILIKE '",
                                                "path GLOB '",
                                                "path = '",
                                                "starts_with(path, '",
                                                "ends_with(path, '",
                                                "contains(path, '"};
    int decided[2] = {0, 0};
    for (int i = 0; i < 30'000; ++i) {
        const std::string_view head = kConditions[random() % std::size(kConditions)];
        const std::string pattern = some("aaabbB\\f%_*?", 6);
        const std::string bytes =
            some(random() % 3 == 0 ? std::string_view("ab\\f\xff\xC3\xA9", 7) : "aabbB", 7);
        const std::string condition =
            std::string(head) + pattern + (head.ends_with("(path, '") ? "')" : "'");
        const auto predicate = Predicate::parse(condition);
        ASSERT_TRUE(predicate.ok()) << condition;
        const Expression& e = predicate.value().expression();
        const std::string shown = schema::escaped(bytes);
        const Value value = Value::of(std::string_view(shown));
        const bool expected =
            is_comparison(e.op)
                ? compare(e.op, value, value_of(e.operands[1].constant)) == Truth::kTrue
                : text_condition(e, value) == Truth::kTrue;
        const char found = matched(condition, bytes);
        if (found == '0' || found == '1') {
            ASSERT_EQ(found == '1', expected)
                << "seed " << kSeed << ": " << condition << " over " << shown;
            decided[expected ? 1 : 0] += 1;
        }
    }
    EXPECT_GT(decided[0], 6'000);
    EXPECT_GT(decided[1], 1'500);
}

}  // namespace
}  // namespace dyetrace::filter
