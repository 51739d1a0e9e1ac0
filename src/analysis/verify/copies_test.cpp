#include "analysis/verify/copies.h"

#include <gtest/gtest.h>

#include "analysis/verify/copy_cases.h"

namespace dyetrace::analysis {
namespace {

using schema::FlowRule;

const std::string kContent = random_bytes(30'000, 3);

std::string flipped(std::string bytes, std::size_t at) {
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    return bytes;
}

// Puts a header in front of each 5,000 bytes.
std::string framed(const std::string& bytes, const std::string& header = "LEN:") {
    std::string result;
    for (std::size_t at = 0; at < bytes.size(); at += 5000) {
        result += header + bytes.substr(at, 5000);
    }
    return result;
}

// A chain: each copy comes from the one before it, by memory and by the rule in turn.
class CopiesTest : public ::testing::Test {
  protected:
    void add(const std::string& bytes) {
        const std::size_t number = copies_.size();
        copies_.push_back({.process = number / 2 + 1,
                           .object = number % 2 == 0 ? number + 100 : 0,
                           .object2 = number % 2 == 0 ? 0 : number + 100,
                           .first_ns = number + 1,
                           .in_file = in_files_,
                           .strip = moved_.strip(bytes, {4096, 1000 + number})});
        if (number > 0) {
            links_.push_back({number - 1, number, number % 2 == 1 ? FlowRule::kAnchor : between_});
        }
    }
    CopyVerdict verdict() const { return verify(copies_, links_, flows_); }
    Change only_change() const {
        const CopyVerdict found = verdict();
        EXPECT_EQ(found.changes.size(), 1u);
        return found.changes.empty() ? Change() : found.changes.front();
    }

    Moved moved_;
    std::vector<Copy> copies_;
    std::vector<CopyLink> links_;
    std::vector<TrailFlow> flows_;
    FlowRule between_ = FlowRule::kTcp;
    bool in_files_ = false;
};

TEST_F(CopiesTest, of_an_intact_chain_are_all_the_same) {
    for (int i = 0; i < 6; ++i) {
        add(kContent);
    }
    const CopyVerdict found = verdict();
    EXPECT_TRUE(found.changes.empty());
    EXPECT_EQ(found.copies_compared, 5u);
    EXPECT_EQ(found.compared_bytes, 5 * kContent.size());
    EXPECT_EQ(found.references, std::vector<std::size_t>{0});
}

TEST_F(CopiesTest, that_a_process_gave_away_bad_were_changed_in_its_memory) {
    for (const bool bad : {false, false, false, true, true, true}) {
        add(bad ? flipped(kContent, 12'345) : kContent);
    }
    const Change change = only_change();
    EXPECT_EQ(change.good, 2u);
    EXPECT_EQ(change.bad, 3u);
    EXPECT_EQ(change.place, Place::kMemory);
    EXPECT_EQ(change.later, (std::vector<std::size_t>{4, 5}));
    EXPECT_LE(change.stretch.begin, 12'345u);
    EXPECT_GT(change.stretch.end, 12'345u);
}

TEST_F(CopiesTest, that_arrived_bad_were_changed_on_the_way) {
    for (const auto& [rule, place] : {std::pair(FlowRule::kTcp, Place::kNetwork),
                                      std::pair(FlowRule::kFile, Place::kFile),
                                      std::pair(FlowRule::kPipe, Place::kPipe)}) {
        copies_.clear();
        links_.clear();
        between_ = rule;
        for (const bool bad : {false, false, true, true}) {
            add(bad ? flipped(kContent, 0) : kContent);
        }
        const Change change = only_change();
        EXPECT_EQ(change.bad, 2u);
        EXPECT_EQ(change.place, place);
        EXPECT_EQ(change.stretch.begin, 0u);
        EXPECT_FALSE(change.overwritten_by);
    }
}

TEST_F(CopiesTest, of_a_file_that_somebody_else_wrote_to_name_him) {
    between_ = FlowRule::kFile;
    for (const bool bad : {false, false, true}) {
        add(bad ? flipped(kContent, 9000) : kContent);
    }
    const std::uint64_t reader = copies_[2].strip.piece_at(9000).event;
    flows_.push_back({.from_event = 777,
                      .to_event = reader,
                      .from_offset = 9000,
                      .to_offset = 9000,
                      .bytes = 1,
                      .rule = FlowRule::kFile});
    EXPECT_EQ(only_change().overwritten_by, 777u);
}

// Somebody whom no event tells of changed a file that two wrote alike, one after the other.
TEST_F(CopiesTest, of_a_file_that_was_rewritten_with_the_same_bytes_do_not_accuse_who_did) {
    add(kContent);
    add(kContent);
    copies_.push_back(
        {.process = 7, .object2 = 101, .first_ns = 3, .strip = moved_.strip(kContent, {5000})});
    copies_.push_back({.process = 8,
                       .object = 101,
                       .first_ns = 4,
                       .strip = moved_.strip(flipped(kContent, 9000), {4096})});
    links_.push_back({1, 3, FlowRule::kFile});
    links_.push_back({2, 3, FlowRule::kFile});
    for (std::size_t at = 0; at < kContent.size(); at += 1000) {
        flows_.push_back({.from_event = copies_[2].strip.piece_at(at).event,
                          .to_event = copies_[3].strip.piece_at(at).event,
                          .from_offset = at,
                          .to_offset = at,
                          .bytes = 1000,
                          .rule = FlowRule::kFile});
    }
    const Change change = only_change();
    EXPECT_EQ(change.place, Place::kFile);
    EXPECT_EQ(change.good, 2u);
    EXPECT_EQ(change.bad, 3u);
    EXPECT_FALSE(change.overwritten_by);
}

TEST_F(CopiesTest, of_a_changed_file_that_four_read_are_one_change) {
    add(kContent);
    add(kContent);
    for (std::size_t i = 2; i < 6; ++i) {
        copies_.push_back({.process = i,
                           .object = 101,
                           .first_ns = i + 1,
                           .strip = moved_.strip(flipped(kContent, 9000), {4096, 100 * i})});
        links_.push_back({1, i, FlowRule::kFile});
    }
    const Change change = only_change();
    EXPECT_EQ(change.bad, 2u);
    EXPECT_EQ(change.later, (std::vector<std::size_t>{3, 4, 5}));
    copies_[5].strip = moved_.strip(flipped(kContent, 9001), {4096});
    EXPECT_EQ(verdict().changes.size(), 2u);
}

TEST_F(CopiesTest, that_were_framed_and_unframed_are_not_changed) {
    add(kContent);
    add(framed(kContent));
    add(framed(kContent));
    add(kContent);
    EXPECT_TRUE(verdict().changes.empty());
}

TEST_F(CopiesTest, that_were_framed_on_their_way_are_not_changed) {
    add(kContent);
    copies_.front().in_file = true;
    add(framed(kContent));
    const CopyVerdict found = verdict();
    EXPECT_TRUE(found.changes.empty());
    EXPECT_EQ(found.sameness(), Sameness::kNotAllCompared);
    EXPECT_EQ(found.compared_bytes + found.unknown_bytes, kContent.size());
}

// What is known of the source has headers of 80 bytes, what goes on has others; both files are as they were sent.
TEST_F(CopiesTest, that_were_framed_in_two_ways_are_compared_as_they_are_stored) {
    add(framed(kContent, std::string(80, 'h')));  // what a server received
    in_files_ = true;
    add(kContent);  // and stored
    in_files_ = false;
    copies_.push_back({.process = 1,
                       .object2 = 300,
                       .first_ns = 3,
                       .strip = moved_.strip(framed(kContent, random_bytes(216, 9)), {1500})});
    copies_.push_back({.process = 2,
                       .object = 301,
                       .first_ns = 4,
                       .strip = moved_.strip(framed(kContent, random_bytes(216, 9)), {4096})});
    copies_.push_back({.process = 2,
                       .object2 = 302,
                       .first_ns = 5,
                       .in_file = true,
                       .strip = moved_.strip(kContent, {777})});
    links_.push_back({0, 2, FlowRule::kAnchor});
    links_.push_back({2, 3, FlowRule::kTcp});
    links_.push_back({3, 4, FlowRule::kAnchor});
    EXPECT_TRUE(verdict().changes.empty());
    EXPECT_EQ(verdict().sameness(), Sameness::kNotAllCompared);
    // A byte beside a frame and one far from all of them, in the second file.
    copies_[4].strip = moved_.strip(flipped(flipped(kContent, 10'001), 17'500), {777});
    const CopyVerdict found = verdict();
    ASSERT_EQ(found.changes.size(), 2u);
    EXPECT_EQ(found.changes[0].bad, 4u);
    EXPECT_EQ(found.changes[0].place, Place::kBetween);
    EXPECT_LE(found.changes[0].stretch.begin, 10'001u);
    EXPECT_GT(found.changes[0].stretch.end, 10'001u);
    EXPECT_EQ(found.changes[1].good, 3u);
    EXPECT_EQ(found.changes[1].bad, 4u);
    EXPECT_EQ(found.changes[1].place, Place::kMemory);
}

// The other bytes of a file beside a frame, read by three who compare nothing but files.
TEST_F(CopiesTest, of_a_stored_file_that_several_read_are_one_change) {
    add(framed(kContent, std::string(80, 'h')));
    in_files_ = true;
    add(kContent);
    const std::size_t writer = copies_.size();
    for (std::size_t i = writer; i < writer + 4; ++i) {
        copies_.push_back({.process = i,
                           .object = i == writer ? 0u : 302u,
                           .object2 = i == writer ? 302u : 0u,
                           .first_ns = i + 1,
                           .in_file = true,
                           .strip = moved_.strip(flipped(kContent, 10'001), {777 + i})});
        links_.push_back({i == writer ? 0 : writer, i, FlowRule::kFile});
    }
    const Change change = only_change();
    EXPECT_EQ(change.good, 1u);
    EXPECT_EQ(change.bad, writer);
    EXPECT_EQ(change.later, (std::vector<std::size_t>{3, 4, 5}));
    copies_[5].strip = moved_.strip(flipped(kContent, 10'002), {4096});
    EXPECT_EQ(verdict().changes.size(), 2u);
}

// Heads of the same length in front of other pieces: between two anchors there may be one in each.
TEST_F(CopiesTest, that_were_framed_at_other_places_are_not_changed) {
    const auto chunked = [](std::size_t size) {
        std::string result;
        for (std::size_t at = 0; at < kContent.size(); at += size) {
            result += "1388\r\n" + kContent.substr(at, size) + "\r\n";
        }
        return result;
    };
    for (const std::size_t size : {1000u, 1024u, 1100u, 3000u}) {
        copies_.clear();
        links_.clear();
        add(chunked(1000));
        add(chunked(size));
        EXPECT_TRUE(verdict().changes.empty()) << size;
        copies_.pop_back();
        copies_.push_back({.process = 1,
                           .object2 = 200,
                           .first_ns = 2,
                           .in_file = true,
                           .strip = moved_.strip(flipped(kContent, 4500), {4096})});
        const CopyVerdict found = verdict();
        EXPECT_LE(found.changes.size(), 1u);  // none if it is too near to a head
        EXPECT_NE(found.sameness(), Sameness::kSame);
    }
}

TEST_F(CopiesTest, that_became_longer_from_file_to_file_are_told_from_who_did_it_on) {
    std::string longer = kContent;
    longer.insert(12'345, "+");
    in_files_ = true;
    add(kContent);
    in_files_ = false;
    add(kContent);
    add(kContent);
    add(longer);
    add(longer);
    in_files_ = true;
    add(longer);
    const Change change = only_change();
    EXPECT_EQ(change.good, 2u);
    EXPECT_EQ(change.bad, 3u);
    EXPECT_EQ(change.place, Place::kMemory);
    EXPECT_EQ(change.later, (std::vector<std::size_t>{5, 4}));
}

TEST_F(CopiesTest, that_were_framed_from_file_to_file_are) {
    in_files_ = true;
    add(kContent);
    add(framed(kContent));
    const CopyVerdict found = verdict();
    ASSERT_EQ(found.changes.size(), 5u);  // the first frame stands in front of all
    EXPECT_EQ(found.changes.front().stretch.outcome, Outcome::kResized);
}

TEST_F(CopiesTest, that_were_changed_inside_of_a_frame_lie_between_those_that_can_be_compared) {
    add(kContent);
    add(framed(kContent));
    add(framed(flipped(kContent, 5001)));  // beside the frame
    add(flipped(kContent, 5001));
    const Change change = only_change();
    EXPECT_EQ(change.good, 0u);
    EXPECT_EQ(change.bad, 3u);
    EXPECT_EQ(change.place, Place::kBetween);
    EXPECT_EQ(change.between, (std::vector<std::size_t>{2, 1}));
}

// A read of a pipe may end before the write that it takes from.
TEST_F(CopiesTest, are_told_from_the_first_bad_one_on_whichever_ended_first) {
    for (const bool bad : {false, false, true, true}) {
        add(bad ? flipped(kContent, 12'345) : kContent);
    }
    std::swap(copies_[2].first_ns, copies_[3].first_ns);
    const Change change = only_change();
    EXPECT_EQ(change.bad, 2u);
    EXPECT_EQ(change.later, std::vector<std::size_t>{3});
}

TEST_F(CopiesTest, of_a_file_that_two_read_and_nobody_wrote_are_held_against_each_other) {
    copies_.push_back(
        {.process = 1, .object = 9, .first_ns = 1, .strip = moved_.strip(kContent, {4096})});
    copies_.push_back({.process = 2,
                       .object = 9,
                       .first_ns = 2,
                       .strip = moved_.strip(flipped(kContent, 1), {4096})});
    EXPECT_EQ(only_change().place, Place::kFile);
}

TEST_F(CopiesTest, that_two_processes_pass_around_in_a_circle_are_compared_with_the_first_one) {
    add(kContent);
    add(kContent);
    links_.push_back({1, 0, FlowRule::kTcp});
    EXPECT_EQ(verdict().copies_compared, 1u);
}

TEST_F(CopiesTest, of_more_origins_than_are_looked_at_are_counted) {
    for (std::size_t i = 0; i < kReferencesMax + 2; ++i) {
        for (const bool from : {true, false}) {
            copies_.push_back({.process = i,
                               .object = from ? i + 1 : 0,
                               .object2 = from ? 0 : i + 1,
                               .first_ns = copies_.size(),
                               .strip = moved_.strip(kContent.substr(0, 2000), {2000})});
        }
        links_.push_back({2 * i, 2 * i + 1, FlowRule::kAnchor});
    }
    EXPECT_EQ(verdict().references.size(), kReferencesMax);
    EXPECT_EQ(verdict().references_left_out, 2u);
}

TEST_F(CopiesTest, that_have_more_changes_than_are_told_are_counted) {
    add(kContent);
    add(flipped(flipped(kContent, 3000), 20'000));
    const CopyVerdict found = verify(copies_, links_, {}, 1);
    EXPECT_EQ(found.changes.size(), 1u);
    EXPECT_EQ(found.changes_left_out, 1u);
}

}  // namespace
}  // namespace dyetrace::analysis
