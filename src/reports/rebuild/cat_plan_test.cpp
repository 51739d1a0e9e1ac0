#include "reports/rebuild/cat_plan.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace dyetrace::reports {
namespace {

// A move whose payload is letters; each part `(position, letters)` is in a block of its own.
class Moves {
  public:
    struct Text {
        std::uint64_t position = 0;
        std::string letters;
    };

    void add(bool is_inbound,
             std::optional<std::uint64_t> offset,
             std::uint64_t bytes,
             const std::vector<Text>& parts) {
        CatMove& move = moves.emplace_back();
        move.is_inbound = is_inbound;
        move.offset = offset;
        move.bytes = bytes;
        for (const Text& part : parts) {
            move.parts.push_back(
                {part.position,
                 {blocks_.size(), 0, static_cast<std::uint32_t>(part.letters.size())}});
            blocks_.push_back(part.letters);
        }
    }
    // A call that moved nothing.
    void size(std::uint64_t size_after) { moves.emplace_back().size_after = size_after; }

    // Holes are dots, zeros are 0.
    std::string text(const std::vector<CatStretch>& plan) const {
        std::string out;
        for (const CatStretch& stretch : plan) {
            out += stretch.part ? blocks_[stretch.part->place.block].substr(
                                      stretch.part->place.offset, stretch.part->place.length)
                                : std::string(stretch.bytes, stretch.is_zeros ? '0' : '.');
        }
        return out;
    }

    std::vector<CatMove> moves;

  private:
    std::vector<std::string> blocks_;
};

TEST(CatPlan, of_a_file_is_as_the_header_shows) {
    Moves m;
    m.add(true, 0, 8, {{0, "AAAAAAAA"}});
    m.add(false, 2, 6, {{0, "BBBB"}});
    m.add(false, 8, 2, {{0, "CC"}});
    EXPECT_EQ(m.text(plan_file(m.moves)), "AABBBB..CC");
}

TEST(CatPlan, of_a_file_ends_where_the_file_does_and_begins_at_0) {
    Moves m;
    m.add(false, 4, 6, {{0, "abcdef"}});
    m.size(12);
    EXPECT_EQ(m.text(plan_file(m.moves)), "....abcdef..") << "somebody wrote there";
    m.size(7);
    EXPECT_EQ(m.text(plan_file(m.moves)), "....abc");
    m.add(false, 9, 1, {{0, "x"}});
    EXPECT_EQ(m.text(plan_file(m.moves)), "....abc..x") << "a hole, or a write that nobody saw";
    m.size(0);
    EXPECT_EQ(m.text(plan_file(m.moves)), "");
}

TEST(CatPlan, of_a_file_has_zeros_where_truncating_made_them) {
    Moves m;
    m.size(5);
    m.moves.back().is_truncate = true;
    EXPECT_EQ(m.text(plan_file(m.moves)), ".....") << "how long it was before, nobody knows";
    m.size(8);
    m.moves.back().is_truncate = true;
    m.add(false, 6, 1, {{0, "x"}});
    EXPECT_EQ(m.text(plan_file(m.moves)), ".....0x0");
}

TEST(CatPlan, of_a_file_that_says_it_is_empty_has_what_was_read) {
    Moves m;
    m.size(0);
    m.add(true, 0, 3, {{0, "abc"}});
    m.moves.back().size_after = 0;
    EXPECT_EQ(m.text(plan_file(m.moves)), "abc");
}

TEST(CatPlan, gives_a_part) {
    Moves m;
    m.add(false, 0, 4, {{0, "abcd"}});
    m.add(false, 6, 3, {{0, "ghi"}});
    const auto plan = plan_file(m.moves);
    EXPECT_EQ(m.text(part_of(plan, 2, 8)), "cd..gh");
    EXPECT_EQ(m.text(part_of(plan, 8, UINT64_MAX)), "i");
    EXPECT_EQ(m.text(part_of(plan, 90, 100)), "");
    Moves stream;
    stream.add(true, 100, 4, {{0, "abcd"}});
    EXPECT_EQ(stream.text(part_of(plan_stream(stream.moves), 1, 3)), "bc");
}

TEST(CatPlan, of_a_file_keeps_what_was_known_where_a_read_has_no_payload) {
    Moves m;
    m.add(false, 0, 4, {{0, "abcd"}});
    m.add(true, 0, 4, {{3, "D"}});
    EXPECT_EQ(m.text(plan_file(m.moves)), "abcD");
}

TEST(CatPlan, of_a_stream_is_by_place_and_has_each_byte_once) {
    Moves m;
    m.add(true, 105, 5, {{0, "FGHIJ"}});
    m.add(true, 100, 5, {{0, "ABCDE"}});
    m.add(true, std::nullopt, 3, {{0, "???"}});
    m.add(true, 103, 4, {{0, "defg"}});
    m.add(true, 112, 2, {{0, "MN"}});
    EXPECT_EQ(m.text(plan_stream(m.moves)), "ABCDEFGHIJ..MN");
}

TEST(CatPlan, of_a_stream_without_places_is_in_the_order_of_time) {
    Moves m;
    m.add(true, std::nullopt, 3, {{0, "one"}});
    m.add(true, std::nullopt, 5, {{0, "tw"}, {4, "o"}});
    EXPECT_EQ(m.text(plan_stream(m.moves)), "onetw..o");
}

TEST(CatPlan, paints_as_painting_byte_by_byte_does) {
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
        Moves m;
        std::string expected;
        for (int i = 0; i < 20; ++i) {
            const std::uint64_t offset = random() % 50;
            const std::string letters(1 + random() % 20, static_cast<char>('a' + i));
            m.add(false, offset, letters.size(), {{0, letters}});
            expected.resize(std::max<std::size_t>(expected.size(), offset + letters.size()), '.');
            expected.replace(offset, letters.size(), letters);
        }
        ASSERT_EQ(m.text(plan_file(m.moves)), expected);
    }
}

}  // namespace
}  // namespace dyetrace::reports
