#include "capture/dye_borders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <tuple>

namespace dyetrace::capture {
namespace {

class DyeBordersTest : public testing::Test {
  protected:
    void look_for(std::vector<std::string> texts) {
        std::vector<DyePattern> patterns;
        patterns.reserve(texts.size());
        for (std::string& text : texts) {
            patterns.push_back({static_cast<std::uint32_t>(patterns.size() + 1),
                                schema::DyeForm::kPlain,
                                std::move(text),
                                false});
        }
        ASSERT_TRUE(table_.build(std::move(patterns)).ok());
    }
    // Cuts the bytes as the kernel does.
    DyePiece piece(std::string_view bytes,
                   std::optional<std::uint64_t> position,
                   std::uint32_t object = 1,
                   bool inbound = false) {
        DyePiece result;
        result.sequence = ++sequence_;
        result.object_id = object;
        result.inbound = inbound;
        result.position = position;
        result.length = bytes.size();
        result.whole = bytes.size() <= 2 * table_.edge_bytes();
        result.first = bytes.substr(0, result.whole ? bytes.size() : table_.edge_bytes());
        result.last = result.whole ? "" : bytes.substr(bytes.size() - table_.edge_bytes());
        return result;
    }
    std::vector<DyeCrossing> join(std::string_view bytes,
                                  std::optional<std::uint64_t> position,
                                  std::uint32_t object = 1,
                                  bool inbound = false) {
        std::vector<DyeCrossing> found;
        borders_.join(table_, piece(bytes, position, object, inbound), found);
        return found;
    }

    DyeTable table_;
    DyeBorders borders_{100, 100};
    std::uint64_t sequence_ = 0;
};

using Crossings = std::vector<DyeCrossing>;
constexpr auto kPlain = schema::DyeForm::kPlain;

TEST_F(DyeBordersTest, joins_what_follows_by_position_and_by_order) {
    look_for({"secret"});
    EXPECT_EQ(join("xxsec", 100), Crossings{});
    EXPECT_EQ(join("retyy", 105), (Crossings{{0, 2, 1, kPlain, -3}}));
    EXPECT_EQ(join("a longer piece of s", std::nullopt), Crossings{});
    EXPECT_EQ(join("ecret and more of it", std::nullopt), (Crossings{{0, 4, 1, kPlain, -1}}));
}

TEST_F(DyeBordersTest, joins_the_second_half_before_the_first_once) {
    look_for({"secret"});
    EXPECT_EQ(join("ret", 103), Crossings{});
    EXPECT_EQ(join("sec", 100), (Crossings{{0, 1, 1, kPlain, -3}}));
    EXPECT_EQ(join("sec", 100), Crossings{});  // read again
    EXPECT_EQ(join("ret", 103), (Crossings{{0, 4, 1, kPlain, -3}}));
}

TEST_F(DyeBordersTest, does_not_join_what_does_not_follow) {
    look_for({"secret"});
    join("sec", 100);
    EXPECT_EQ(join("ret", 104), Crossings{});           // a byte is between them
    EXPECT_EQ(join("ret", 103, 2), Crossings{});        // another object
    EXPECT_EQ(join("ret", 103, 1, true), Crossings{});  // the other direction
    join("sec", std::nullopt, 7);
    EXPECT_EQ(join("ret", std::nullopt, 8), Crossings{});
    EXPECT_EQ(join("ret", std::nullopt, 7, true), Crossings{});
    borders_.forget(7, std::nullopt, 5);
    EXPECT_EQ(join("ret", std::nullopt, 7), Crossings{});
    join("sec", std::nullopt, 7);
    borders_.forget_orders();
    EXPECT_EQ(join("ret", std::nullopt, 7), Crossings{});
    join("sec", 200);
    join("xx", 201);  // written over it
    EXPECT_EQ(join("ret", 203), Crossings{});
    join("sec", 300);
    borders_.forget(1, 302, 1);
    EXPECT_EQ(join("ret", 303), Crossings{});
}

// Any cut of a text into pieces, which come in any order: what is found over the cuts is what a naive search finds there.
TEST_F(DyeBordersTest, finds_what_a_naive_search_finds_over_the_cuts) {
    std::size_t hits = 0;
    for (unsigned seed = 1; seed <= 300; ++seed) {
        std::mt19937 random(seed);
        std::string bytes(50 + random() % 400, 0);
        for (char& c : bytes) {
            c = static_cast<char>('a' + random() % (1 + seed % 4));
        }
        std::vector<std::string> texts;
        for (int i = 0; i < 4; ++i) {
            const std::size_t length = 4 + random() % 30;
            texts.push_back(bytes.substr(random() % (bytes.size() - length), length));
        }
        std::sort(texts.begin(), texts.end());
        texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
        look_for(texts);
        std::vector<std::pair<std::size_t, std::size_t>> cuts;  // position, length
        for (std::size_t at = 0; at < bytes.size();) {
            const std::size_t length =
                std::min<std::size_t>(1 + random() % (1 + seed % 90), bytes.size() - at);
            cuts.emplace_back(at, length);
            at += length;
        }
        const bool by_order = seed % 3 == 0;
        std::vector<std::size_t> order(cuts.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            order[i] = i;
        }
        if (!by_order) {
            std::shuffle(order.begin(), order.end(), random);
        }
        using Found = std::multiset<std::tuple<std::uint32_t, std::size_t>>;  // dye, position
        Found expected, got;
        for (std::uint32_t dye = 1; dye <= texts.size(); ++dye) {
            const std::string& text = texts[dye - 1];
            for (auto at = bytes.find(text); at != std::string::npos;
                 at = bytes.find(text, at + 1)) {
                if (std::any_of(cuts.begin(), cuts.end(), [&](const auto& cut) {
                        return at < cut.first && cut.first < at + text.size();
                    })) {
                    expected.emplace(dye, at);
                }
            }
        }
        DyeBorders borders;
        std::vector<DyeCrossing> found;
        std::vector<std::size_t> begins(sequence_ + cuts.size() + 1);
        for (const std::size_t i : order) {
            const auto [at, length] = cuts[i];
            const auto position = by_order ? std::nullopt : std::optional<std::uint64_t>(at);
            const DyePiece one = piece(std::string_view(bytes).substr(at, length), position);
            begins[one.sequence] = at;
            borders.join(table_, one, found);
        }
        for (const DyeCrossing& one : found) {
            got.emplace(one.dye,
                        static_cast<std::size_t>(static_cast<std::int64_t>(begins[one.sequence]) +
                                                 one.position));
        }
        ASSERT_EQ(got, expected) << "seed " << seed;
        hits += expected.size();
    }
    EXPECT_GT(hits, 5000u);
}

TEST_F(DyeBordersTest, counts_none_of_a_stream_that_it_followed) {
    look_for({"secret"});
    for (std::uint64_t i = 0; i < 300; ++i) {
        EXPECT_EQ(join(i % 2 == 0 ? "sec" : "ret", 3 * i).size(), i % 2);
    }
    EXPECT_EQ(borders_.forgotten(), 0u);
}

TEST_F(DyeBordersTest, forgets_the_oldest_and_counts_them) {
    look_for({"secret"});
    for (std::uint64_t i = 0; i < 101; ++i) {
        join("sec", 1000 * i);
    }
    EXPECT_EQ(borders_.forgotten(), 1u);
    EXPECT_EQ(join("ret", 3), Crossings{});
    EXPECT_EQ(join("ret", 50'003).size(), 1u);
    for (std::uint32_t object = 0; object < 101; ++object) {
        join("sec", std::nullopt, object);
    }
    EXPECT_EQ(borders_.forgotten(), 103u);
}

}  // namespace
}  // namespace dyetrace::capture
