#include "analysis/verify/copies.h"

#include <gtest/gtest.h>

#include "analysis/verify/copy_cases.h"

namespace dyetrace::analysis {
namespace {

using schema::FlowRule;

const std::string kCopied = random_bytes(30'000, 3);

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
    // To the byte there in a copy.
    void add_flow(std::uint64_t from_event, std::size_t to, std::uint64_t at, FlowRule rule) {
        const MovedPiece& piece = copies_[to].strip.piece_at(at);
        flows_.push_back({.from_event = from_event,
                          .to_event = piece.event,
                          .from_offset = at,
                          .to_offset = at,
                          .to_position = static_cast<std::uint32_t>(at - piece.position),
                          .bytes = 1,
                          .rule = rule});
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
        add(kCopied);
    }
    const CopyVerdict found = verdict();
    EXPECT_TRUE(found.changes.empty());
    EXPECT_EQ(found.copies_compared, 5u);
    EXPECT_EQ(found.compared_bytes, 5 * kCopied.size());
    EXPECT_EQ(found.references, std::vector<std::size_t>{0});
}

TEST_F(CopiesTest, that_a_process_gave_away_bad_were_changed_in_its_memory) {
    for (const bool bad : {false, false, false, true, true, true}) {
        add(bad ? flipped(kCopied, 12'345) : kCopied);
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
            add(bad ? flipped(kCopied, 0) : kCopied);
        }
        const Change change = only_change();
        EXPECT_EQ(change.bad, 2u);
        EXPECT_EQ(change.place, place);
        EXPECT_EQ(change.stretch.begin, 0u);
        EXPECT_FALSE(change.replaced_by);
    }
}

TEST_F(CopiesTest, of_a_file_that_somebody_else_wrote_to_were_replaced_and_name_him) {
    between_ = FlowRule::kFile;
    for (const bool bad : {false, false, true, true}) {
        add(bad ? flipped(kCopied, 9000) : kCopied);
    }
    EXPECT_EQ(verdict().sameness(), Sameness::kDifferent);
    add_flow(777, 2, 9000, FlowRule::kFile);
    const CopyVerdict found = verdict();
    EXPECT_TRUE(found.changes.empty());
    ASSERT_EQ(found.replaced.size(), 1u);
    EXPECT_EQ(found.replaced.front().replaced_by, 777u);
    EXPECT_EQ(found.replaced.front().bad, 2u);
    EXPECT_EQ(found.replaced.front().later, std::vector<std::size_t>{3});
    EXPECT_EQ(found.sameness(), Sameness::kReplaced);
}

// A program reads a page and writes it back with something else in it, and so into its journal.
TEST_F(CopiesTest, that_were_written_back_to_the_file_they_were_read_from_are_a_new_version) {
    in_files_ = true;
    add(kCopied);
    add(flipped(kCopied, 9000));
    EXPECT_EQ(only_change().place, Place::kMemory);
    copies_.push_back({.process = 1,
                       .object2 = copies_[0].object,
                       .first_ns = 3,
                       .in_file = true,
                       .strip = moved_.strip(flipped(kCopied, 9000), {4096})});
    links_.push_back({0, 2, FlowRule::kAnchor});
    const CopyVerdict found = verdict();
    EXPECT_EQ(found.sameness(), Sameness::kReplaced);
    EXPECT_EQ(found.replaced.size(), 2u);
    copies_[2].strip = moved_.strip(random_bytes(30'000, 77), {4096});  // nothing of it remains
    links_.pop_back();
    EXPECT_EQ(verdict().sameness(), Sameness::kReplaced);
    copies_[2].process = 9;
    EXPECT_EQ(verdict().sameness(), Sameness::kDifferent)
        << "what another one does to the source says nothing of a bad copy";
}

// As rsync does: an old file and a new part that arrived from somewhere else.
TEST_F(CopiesTest, that_got_a_part_from_elsewhere_are_no_bad_ones_of_the_old) {
    in_files_ = true;
    add(kCopied);
    add(flipped(kCopied, 9000));
    add_flow(555, 1, 9000, FlowRule::kHash);
    const CopyVerdict found = verdict();
    EXPECT_EQ(found.sameness(), Sameness::kReplaced);
    EXPECT_EQ(found.replaced.front().replaced_by, 555u);
}

// 0 an old version, 1 the new one, which is held against it; 2 passes parts of 1 on with frames, 3 puts the parts and the old version together.
TEST_F(CopiesTest, that_are_bad_as_one_farther_away_are_not_held_against_who_has_the_old_ones) {
    const std::string newer = flipped(kCopied, 12'345);
    in_files_ = true;
    add(kCopied);
    add(newer);
    in_files_ = false;
    add(newer.substr(10'000, 2340) + "LEN:" + newer.substr(12'340, 3000));
    in_files_ = true;
    add(newer);
    links_.push_back({0, 3, FlowRule::kAnchor});
    const Change change = only_change();
    EXPECT_EQ(change.bad, 1u);
    EXPECT_EQ(change.later, std::vector<std::size_t>{3});
}

// Somebody whom no event tells of changed a file that two wrote alike, one after the other.
TEST_F(CopiesTest, of_a_file_that_was_rewritten_with_the_same_bytes_do_not_accuse_who_did) {
    add(kCopied);
    add(kCopied);
    copies_.push_back(
        {.process = 7, .object2 = 101, .first_ns = 3, .strip = moved_.strip(kCopied, {5000})});
    copies_.push_back({.process = 8,
                       .object = 101,
                       .first_ns = 4,
                       .strip = moved_.strip(flipped(kCopied, 9000), {4096})});
    links_.push_back({1, 3, FlowRule::kFile});
    links_.push_back({2, 3, FlowRule::kFile});
    for (std::size_t at = 0; at < kCopied.size(); at += 1000) {
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
    EXPECT_FALSE(change.replaced_by);
}

TEST_F(CopiesTest, of_a_changed_file_that_four_read_are_one_change) {
    add(kCopied);
    add(kCopied);
    for (std::size_t i = 2; i < 6; ++i) {
        copies_.push_back({.process = i,
                           .object = 101,
                           .first_ns = i + 1,
                           .strip = moved_.strip(flipped(kCopied, 9000), {4096, 100 * i})});
        links_.push_back({1, i, FlowRule::kFile});
    }
    const Change change = only_change();
    EXPECT_EQ(change.bad, 2u);
    EXPECT_EQ(change.later, (std::vector<std::size_t>{3, 4, 5}));
    copies_[5].strip = moved_.strip(flipped(kCopied, 9001), {4096});
    EXPECT_EQ(verdict().changes.size(), 2u);
}

TEST_F(CopiesTest, that_were_framed_and_unframed_are_not_changed) {
    add(kCopied);
    add(framed(kCopied));
    add(framed(kCopied));
    add(kCopied);
    EXPECT_TRUE(verdict().changes.empty());
}

TEST_F(CopiesTest, that_were_framed_on_their_way_are_not_changed) {
    add(kCopied);
    copies_.front().in_file = true;
    add(framed(kCopied));
    const CopyVerdict found = verdict();
    EXPECT_TRUE(found.changes.empty());
    EXPECT_EQ(found.sameness(), Sameness::kNotAllCompared);
    EXPECT_EQ(found.compared_bytes + found.unknown_bytes, kCopied.size());
}

// What is known of the source has headers of 80 bytes, what goes on has others; both files are as they were sent.
TEST_F(CopiesTest, that_were_framed_in_two_ways_are_compared_as_they_are_stored) {
    add(framed(kCopied, std::string(80, 'h')));  // what a server received
    in_files_ = true;
    add(kCopied);  // and stored
    in_files_ = false;
    copies_.push_back({.process = 1,
                       .object2 = 300,
                       .first_ns = 3,
                       .strip = moved_.strip(framed(kCopied, random_bytes(216, 9)), {1500})});
    copies_.push_back({.process = 2,
                       .object = 301,
                       .first_ns = 4,
                       .strip = moved_.strip(framed(kCopied, random_bytes(216, 9)), {4096})});
    copies_.push_back({.process = 2,
                       .object2 = 302,
                       .first_ns = 5,
                       .in_file = true,
                       .strip = moved_.strip(kCopied, {777})});
    links_.push_back({0, 2, FlowRule::kAnchor});
    links_.push_back({2, 3, FlowRule::kTcp});
    links_.push_back({3, 4, FlowRule::kAnchor});
    EXPECT_TRUE(verdict().changes.empty());
    EXPECT_EQ(verdict().sameness(), Sameness::kNotAllCompared);
    // A byte beside a frame and one far from all of them, in the second file.
    copies_[4].strip = moved_.strip(flipped(flipped(kCopied, 10'001), 17'500), {777});
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
    add(framed(kCopied, std::string(80, 'h')));
    in_files_ = true;
    add(kCopied);
    const std::size_t writer = copies_.size();
    for (std::size_t i = writer; i < writer + 4; ++i) {
        copies_.push_back({.process = i,
                           .object = i == writer ? 0u : 302u,
                           .object2 = i == writer ? 302u : 0u,
                           .first_ns = i + 1,
                           .in_file = true,
                           .strip = moved_.strip(flipped(kCopied, 10'001), {777 + i})});
        links_.push_back({i == writer ? 0 : writer, i, FlowRule::kFile});
    }
    const Change change = only_change();
    EXPECT_EQ(change.good, 1u);
    EXPECT_EQ(change.bad, writer);
    EXPECT_EQ(change.later, (std::vector<std::size_t>{3, 4, 5}));
    copies_[5].strip = moved_.strip(flipped(kCopied, 10'002), {4096});
    EXPECT_EQ(verdict().changes.size(), 2u);
}

// Heads of the same length in front of other pieces: between two anchors there may be one in each.
TEST_F(CopiesTest, that_were_framed_at_other_places_are_not_changed) {
    const auto chunked = [](std::size_t size) {
        std::string result;
        for (std::size_t at = 0; at < kCopied.size(); at += size) {
            result += "1388\r\n" + kCopied.substr(at, size) + "\r\n";
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
                           .strip = moved_.strip(flipped(kCopied, 4500), {4096})});
        const CopyVerdict found = verdict();
        EXPECT_LE(found.changes.size(), 1u);  // none if it is too near to a head
        EXPECT_NE(found.sameness(), Sameness::kSame);
    }
}

TEST_F(CopiesTest, that_became_longer_from_file_to_file_are_told_from_who_did_it_on) {
    std::string longer = kCopied;
    longer.insert(12'345, "+");
    in_files_ = true;
    add(kCopied);
    in_files_ = false;
    add(kCopied);
    add(kCopied);
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

// Archives and journals: frames in front of, or after, each part, and now and then a byte of a page that is another one in a journal.
TEST_F(CopiesTest, that_are_framed_in_a_file_or_were_are_not_changed) {
    in_files_ = true;
    for (const std::string& archive :
         {framed(kCopied), framed(flipped(kCopied, 12'345)), framed(kCopied).substr(4) + "SUM"}) {
        for (const bool is_taken_out : {false, true}) {
            copies_.clear();
            links_.clear();
            add(is_taken_out ? archive : kCopied);
            add(is_taken_out ? kCopied : archive);
            EXPECT_EQ(verdict().sameness(), Sameness::kNotAllCompared);
        }
    }
    copies_.clear();
    links_.clear();
    add(kCopied);
    add(kCopied.substr(0, 9000) + kCopied.substr(9000 + 700));
    EXPECT_EQ(only_change().stretch.outcome, Outcome::kResized) << "a part of it is missing";
}

// Each has its greeting of the same length; what came between is the same.
TEST_F(CopiesTest, on_two_connections_with_greetings_of_their_own_are_not_changed) {
    const auto greeted = [&](unsigned session) {
        return random_bytes(400, session) + kCopied + random_bytes(300, session + 1);
    };
    add(greeted(20));
    add(greeted(20));
    in_files_ = true;
    add(kCopied);
    in_files_ = false;
    add(greeted(30));
    EXPECT_TRUE(verdict().changes.empty());
    copies_[3].strip = moved_.strip(flipped(greeted(30), 17'000), {4096});
    EXPECT_EQ(only_change().bad, 3u);
}

// They have a message in common, and are as long by chance.
TEST_F(CopiesTest, that_are_mostly_other_content_are_not_changed) {
    add(kCopied.substr(0, 5000) + random_bytes(20'000, 40));
    add(kCopied.substr(0, 5000) + random_bytes(19'000, 41) + kCopied.substr(24'000, 4000));
    EXPECT_TRUE(verdict().changes.empty());
    copies_.clear();
    links_.clear();
    add(random_bytes(3000, 1));
    add(random_bytes(3000, 2));
    EXPECT_TRUE(verdict().changes.empty());
}

TEST_F(CopiesTest, that_were_changed_inside_of_a_frame_lie_between_those_that_can_be_compared) {
    add(kCopied);
    add(framed(kCopied));
    add(framed(flipped(kCopied, 5001)));  // beside the frame
    add(flipped(kCopied, 5001));
    const Change change = only_change();
    EXPECT_EQ(change.good, 0u);
    EXPECT_EQ(change.bad, 3u);
    EXPECT_EQ(change.place, Place::kBetween);
    EXPECT_EQ(change.between, (std::vector<std::size_t>{2, 1}));
}

// A read of a pipe may end before the write that it takes from.
TEST_F(CopiesTest, are_told_from_the_first_bad_one_on_whichever_ended_first) {
    for (const bool bad : {false, false, true, true}) {
        add(bad ? flipped(kCopied, 12'345) : kCopied);
    }
    std::swap(copies_[2].first_ns, copies_[3].first_ns);
    const Change change = only_change();
    EXPECT_EQ(change.bad, 2u);
    EXPECT_EQ(change.later, std::vector<std::size_t>{3});
}

TEST_F(CopiesTest, of_a_file_that_two_read_and_nobody_wrote_are_held_against_each_other) {
    for (const bool in_file : {true, false}) {
        copies_.clear();
        for (const bool bad : {false, true}) {
            copies_.push_back({.process = bad ? 2u : 1u,
                               .object = 9,
                               .first_ns = bad ? 2u : 1u,
                               .in_file = in_file,
                               .strip = moved_.strip(bad ? flipped(kCopied, 1) : kCopied, {4096})});
        }
        if (in_file) {
            EXPECT_EQ(only_change().place, Place::kFile);
        } else {
            EXPECT_EQ(verdict().copies_compared, 0u) << "a device gives each other bytes";
        }
    }
}

// A server reads the head of a file, and sends the rest without looking.
TEST_F(CopiesTest, of_a_file_are_held_against_who_read_most_of_it) {
    for (const std::uint64_t process : {1u, 2u, 3u}) {
        copies_.push_back(
            {.process = process,
             .object = 9,
             .first_ns = process,
             .in_file = true,
             .strip = moved_.strip(kCopied.substr(0, process == 1 ? 600 : 30'000), {4096})});
    }
    const CopyVerdict found = verdict();
    EXPECT_EQ(found.references, std::vector<std::size_t>{1});
    EXPECT_GE(found.compared_bytes, kCopied.size());
}

TEST_F(CopiesTest, that_two_processes_pass_around_in_a_circle_are_compared_with_the_first_one) {
    add(kCopied);
    add(kCopied);
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
                               .strip = moved_.strip(kCopied.substr(0, 2000), {2000})});
        }
        links_.push_back({2 * i, 2 * i + 1, FlowRule::kAnchor});
    }
    EXPECT_EQ(verdict().references.size(), kReferencesMax);
    EXPECT_EQ(verdict().references_left_out, 2u);
}

TEST_F(CopiesTest, that_have_more_changes_than_are_told_are_counted) {
    add(kCopied);
    add(flipped(flipped(kCopied, 3000), 20'000));
    const CopyVerdict found = verify(copies_, links_, {}, 1);
    EXPECT_EQ(found.changes.size(), 1u);
    EXPECT_EQ(found.changes_left_out, 1u);
}

}  // namespace
}  // namespace dyetrace::analysis
