#include "analysis/dataflow/trail.h"

#include <gtest/gtest.h>

#include "analysis/dataflow/flow_cases.h"

namespace dyetrace::analysis {
namespace {

constexpr std::size_t kStepsMost = 1000;

// The flows of some operations, as a trail keeps them.
std::vector<TrailFlow> trail_flows(const std::vector<Case>& cases) {
    FlowEngine engine({}, {});
    std::vector<TrailFlow> flows;
    for (const Flow& flow : flows_of(engine, cases)) {
        flows.push_back({.from_event = flow.from_event,
                         .to_event = flow.to_event,
                         .from_offset = flow.from_offset,
                         .to_offset = flow.to_offset,
                         .from_position = static_cast<std::uint32_t>(flow.from_position),
                         .to_position = static_cast<std::uint32_t>(flow.to_position),
                         .bytes = static_cast<std::uint32_t>(flow.bytes),
                         .rule = flow.rule,
                         .certainty = flow.certainty});
    }
    return flows;
}

// "near→far begin+bytes", a word per step.
std::string text(const Trail& trail) {
    std::string text;
    for (const TrailStep& step : trail.steps()) {
        const std::string begin =
            step.far_offset == kUnknown ? "?" : std::to_string(step.far_offset);
        text += (text.empty() ? "" : " ") + std::to_string(step.near_event) + "→" +
                std::to_string(step.far_event) + ":" + begin + "+" + std::to_string(step.bytes);
    }
    return text;
}

// "far rule certainty, " per step.
std::string words(const Trail& trail) {
    std::string text;
    for (const TrailStep& step : trail.steps()) {
        text += std::to_string(step.far_event) + " " +
                std::string(schema::flow_rule_name(static_cast<std::uint8_t>(step.rule))) + " " +
                std::string(schema::certainty_name(static_cast<std::uint8_t>(step.certainty))) +
                ", ";
    }
    return text;
}

// A relay: one process reads a file and writes it to a pipe, the next one takes it out in two halves.
std::vector<Case> relay() {
    return {read_of(1, file(7, 1000), 100).by(5).saying(42),
            write_of(2, piped(8), 100).by(5).saying(42),
            read_of(3, piped(8), 50).by(6).saying(43),
            write_of(4, file(9, 0), 50).by(6).saying(43),
            read_of(5, piped(8), 50).by(6).saying(44),
            write_of(6, file(9, 50), 50).by(6).saying(44),
            read_of(7, file(9, 0), 100).by(10)};
}

TEST(Trail, goes_forward_through_a_relay) {
    Trail trail(trail_flows(relay()), Direction::kForward, kStepsMost);
    trail.start({1, 0, 100});
    trail.walk();
    EXPECT_EQ(text(trail), "1→2:0+100 2→3:0+50 2→5:50+50 3→4:0+50 5→6:50+50 4→7:0+50 6→7:50+50");
}

TEST(Trail, follows_only_the_bytes_that_were_asked_for) {
    Trail trail(trail_flows(relay()), Direction::kForward, kStepsMost);
    trail.start({1, 60, 70});
    trail.walk();
    EXPECT_EQ(text(trail), "1→2:60+10 2→5:60+10 5→6:60+10 6→7:60+10");
}

TEST(Trail, goes_back_to_where_bytes_came_from) {
    Trail trail(trail_flows(relay()), Direction::kBack, kStepsMost);
    trail.start({7, 40, 60});
    trail.walk();
    EXPECT_EQ(
        text(trail),
        "7→4:40+10 7→6:50+10 4→3:40+10 6→5:50+10 3→2:40+10 5→2:50+10 2→1:1040+10 2→1:1050+10");
}

TEST(Trail, reaches_each_byte_once) {
    Trail trail(trail_flows(relay()), Direction::kForward, kStepsMost);
    trail.start({2, 0, 30});
    trail.start({2, 20, 60});
    trail.walk();
    EXPECT_EQ(text(trail),
              "2→3:0+30 2→3:30+20 2→5:50+10 3→4:0+30 3→4:30+20 5→6:50+10 4→7:0+30 "
              "4→7:30+20 6→7:50+10");
}

TEST(Trail, ends_where_bytes_go_round_for_ever) {
    std::vector<TrailFlow> flows;
    flows.push_back({.from_event = 1, .to_event = 2, .bytes = 10});
    flows.push_back({.from_event = 2, .to_event = 1, .bytes = 10});
    Trail trail(flows, Direction::kForward, kStepsMost);
    trail.start({1, 0, 10});
    trail.walk();
    EXPECT_EQ(text(trail), "1→2:0+10 2→1:0+10");
    EXPECT_FALSE(trail.is_cut());
}

TEST(Trail, that_is_too_long_is_cut_and_says_so) {
    Trail trail(trail_flows(relay()), Direction::kForward, 2);
    trail.start({1, 0, 100});
    trail.walk();
    EXPECT_TRUE(trail.is_cut());
    EXPECT_EQ(trail.steps().size(), 3u);
}

// Process 5 reads, then writes; 6 is its child of later, 7 one of before.
std::vector<Case> changed_bytes() {
    return {write_of(1, file(9, 0), 8).by(5),
            read_of(2, file(7, 0), 100).by(5),
            write_of(3, file(9, 8), 8).by(5),
            write_of(4, file(10, 0), 8).by(6),
            write_of(5, file(11, 0), 8).by(7),
            read_of(6, file(9, 8), 8).by(8)};
}

Trail possible_trail(Direction direction) {
    Trail trail(trail_flows(changed_bytes()), direction, kStepsMost);
    for (const Case& operation : changed_bytes()) {
        trail.offer(operation);
    }
    trail.offer(ProcessLink{6, 5, 35});
    trail.offer(ProcessLink{7, 5, 15});
    return trail;
}

TEST(PossibleTrail, goes_to_whatever_a_process_wrote_afterwards) {
    Trail trail = possible_trail(Direction::kForward);
    trail.start({2, 0, 100});
    trail.walk();
    EXPECT_EQ(text(trail), "2→3:8+8 2→4:0+8 3→6:8+8");
    EXPECT_EQ(trail.steps()[0].certainty, schema::Certainty::kPossible);
    EXPECT_EQ(trail.steps()[0].rule, schema::FlowRule::kProcess);
}

TEST(PossibleTrail, comes_from_whatever_a_process_read_before) {
    Trail trail = possible_trail(Direction::kBack);
    trail.start({4, 0, 8});
    trail.walk();
    EXPECT_EQ(text(trail), "4→2:0+100");
    Trail before = possible_trail(Direction::kBack);
    before.start({5, 0, 8});
    before.walk();
    EXPECT_EQ(text(before), "");
}

// Process 5 packs what it reads, 6 unpacks it, to the same bytes in other pieces.
TEST(PossibleTrail, is_likely_where_the_content_comes_back) {
    const std::vector<Anchor> plain = {{10, 77}}, part = {{2, 77}};
    const std::vector<Case> cases = {read_of(1, file(7, 0), 100).by(5).saying(42).with(plain),
                                     write_of(2, file(8, 0), 50).by(5),
                                     read_of(3, file(8, 0), 50).by(6),
                                     write_of(4, file(9, 0), 100).by(6).saying(42),
                                     write_of(5, file(10, 0), 60).by(6).with(part),
                                     write_of(6, file(11, 0), 60).by(6).saying(43)};
    Trail trail(trail_flows(cases), Direction::kForward, kStepsMost);
    for (const Case& operation : cases) {
        trail.offer(operation);
    }
    trail.start({1, 0, 100});
    trail.walk();
    EXPECT_EQ(words(trail),
              "2 process possible, 3 file certain, 4 hash likely, 5 anchor likely, 6 process "
              "possible, ");
}

// Both processes read the same library, 10; 5 packs the file 7, 6 unpacks it. What was packed is the file, and not the library.
TEST(PossibleTrail, is_not_likely_where_content_comes_back_that_never_went_this_way) {
    const std::vector<Case> cases = {read_of(1, file(7, 0), 100).by(5).saying(42),
                                     read_of(2, file(10, 0), 80).by(5).saying(50),
                                     write_of(3, file(8, 0), 50).by(5),
                                     read_of(4, file(10, 0), 80).by(6).saying(50),
                                     read_of(5, file(8, 0), 50).by(6),
                                     write_of(6, file(9, 0), 100).by(6).saying(42)};
    Trail trail(trail_flows(cases), Direction::kBack, kStepsMost);
    for (const Case& operation : cases) {
        trail.offer(operation);
    }
    trail.start({6, 0, 100});
    trail.walk();
    EXPECT_EQ(words(trail),
              "5 process possible, 4 process possible, 3 file certain, 2 process possible, "
              "1 hash likely, ");
}

// 5 sends what it read in pieces of other sizes: the piece that comes back is not the one after
// which the process was looked at.
TEST(PossibleTrail, knows_what_the_same_process_moved_beside_it) {
    const std::vector<Case> cases = {read_of(1, file(7, 0), 100).by(5),
                                     write_of(2, file(8, 0), 50).by(5).saying(41),
                                     write_of(3, file(8, 50), 50).by(5).saying(42),
                                     read_of(4, file(8, 0), 100).by(6),
                                     write_of(5, file(9, 0), 60).by(6),
                                     read_of(6, file(9, 0), 60).by(7),
                                     write_of(7, file(11, 0), 50).by(7).saying(42)};
    Trail trail(trail_flows(cases), Direction::kForward, kStepsMost);
    for (const Case& operation : cases) {
        trail.offer(operation);
    }
    trail.start({1, 0, 100});
    trail.walk();
    EXPECT_NE(words(trail).find("7 hash likely"), std::string::npos) << words(trail);
}

TEST(PossibleTrail, does_not_call_possible_what_is_known_better) {
    Trail trail(trail_flows(relay()), Direction::kForward, kStepsMost);
    for (const Case& operation : relay()) {
        trail.offer(operation);
    }
    trail.start({1, 0, 100});
    trail.walk();
    for (const TrailStep& step : trail.steps()) {
        EXPECT_NE(step.rule, schema::FlowRule::kProcess) << step.far_event;
    }
}

}  // namespace
}  // namespace dyetrace::analysis
