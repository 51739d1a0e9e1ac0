#include "capture/dye_table.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <tuple>

#include "base/file.h"

namespace dyetrace::capture {
namespace {

using Found = std::multiset<std::tuple<std::uint32_t, std::size_t>>;  // dye, position

std::string small(std::string text) {
    for (char& c : text) {
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return text;
}

Found naive(const std::vector<DyePattern>& patterns, const std::string& bytes) {
    Found found;
    for (const DyePattern& pattern : patterns) {
        const std::string text = pattern.any_case ? small(pattern.text) : pattern.text;
        const std::string in = pattern.any_case ? small(bytes) : bytes;
        for (std::size_t at = in.find(text); at != std::string::npos; at = in.find(text, at + 1)) {
            found.emplace(pattern.dye, at);
        }
    }
    return found;
}

Found found_by(const DyeTable& table, const std::string& bytes) {
    Found found;
    table.find(base::bytes_of(bytes),
               [&](const DyePattern& pattern, std::size_t at) { found.emplace(pattern.dye, at); });
    return found;
}

class RandomText {
  public:
    explicit RandomText(unsigned seed) : random_(seed) {}
    std::size_t below(std::size_t end) { return random_() % end; }
    std::string of(std::size_t length, std::size_t alphabet) {
        std::string text(length, 0);
        for (char& c : text) {
            c = "aAbB zZ@[`{0\n\xc1\xe1\x80"[below(alphabet)];
        }
        return text;
    }

  private:
    std::mt19937 random_;
};

TEST(DyeTable, finds_what_a_naive_search_finds) {
    DyeTable table;
    std::size_t hits = 0;
    for (unsigned seed = 1; seed <= 400; ++seed) {
        RandomText random(seed);
        const std::size_t alphabet = 1 + random.below(16);
        const std::string bytes = random.of(random.below(3000), alphabet);
        std::vector<DyePattern> patterns;
        for (std::uint32_t dye = 1; dye <= 1 + random.below(20); ++dye) {
            const std::size_t length = 4 + random.below(random.below(4) == 0 ? 253 : 24);
            const bool cut_out = bytes.size() > length && random.below(2) == 0;
            patterns.push_back({dye,
                                schema::DyeForm::kPlain,
                                cut_out ? bytes.substr(random.below(bytes.size() - length), length)
                                        : random.of(length, alphabet),
                                random.below(3) == 0});
        }
        ASSERT_TRUE(table.build(patterns).ok());
        const Found expected = naive(patterns, bytes);
        ASSERT_EQ(found_by(table, bytes), expected) << "seed " << seed;
        hits += expected.size();
    }
    EXPECT_GT(hits, 10'000u);
}

TEST(DyeTable, tells_ten_thousand_texts_apart_that_differ_in_their_last_bytes) {
    std::vector<DyePattern> patterns;
    std::string bytes;
    for (std::uint32_t dye = 0; dye < 10'000; ++dye) {
        std::string text = std::to_string(dye);
        text.insert(0, "customer=0000000", 15 - text.size());
        patterns.push_back({dye, schema::DyeForm::kPlain, text, false});
        bytes += text + std::string(dye % 9, '.');
    }
    DyeTable table;
    ASSERT_TRUE(table.build(patterns).ok());
    EXPECT_EQ(found_by(table, bytes), naive(patterns, bytes));
    std::uint32_t longest = 0;
    for (const dye_bucket& bucket : table.raw().buckets) {
        longest = std::max(longest, bucket.nodes);
    }
    EXPECT_LT(longest, DYE_CHAIN_MAX / 4u);
}

TEST(DyeTable, refuses_what_is_too_short_too_long_or_too_much) {
    DyeTable table;
    const auto built = [&](std::size_t length, std::size_t count = 1) {
        return table.build(std::vector<DyePattern>(
            count, {1, schema::DyeForm::kPlain, std::string(length, 'x'), false}));
    };
    EXPECT_FALSE(built(3).ok());
    EXPECT_TRUE(built(4).ok());
    EXPECT_TRUE(built(256).ok());
    EXPECT_EQ(table.edge_bytes(), 255u);
    EXPECT_FALSE(built(257).ok());
    EXPECT_FALSE(built(4, DYE_PATTERNS_MAX + 1).ok());
    EXPECT_EQ(table.edge_bytes(), 255u);  // as it was
    EXPECT_TRUE(built(4, 0).ok());
    EXPECT_EQ(found_by(table, "xxxxxxx"), Found{});
}

}  // namespace
}  // namespace dyetrace::capture
