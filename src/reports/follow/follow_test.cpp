#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "base/json.h"
#include "base/text.h"
#include "query/flows/flow_rows.h"
#include "reports/follow/follow_output.h"
#include "reports/follow/follow_trail.h"
#include "schema/derived_tables.h"

namespace dyetrace::reports {
namespace {

using analysis::Direction;
using analysis::Operation;
using analysis::TrailFlow;
using schema::Certainty;
using schema::FlowRule;

constexpr std::uint64_t kReadCall = 0, kWriteCall = 1;
constexpr std::size_t kHopsMax = 100;

Operation operation(std::uint64_t event, std::uint64_t process, std::uint64_t bytes) {
    Operation made;
    made.event = event;
    made.process = process;
    made.bytes = bytes;
    made.start_ns = event * 1'000'000;
    made.end_ns = made.start_ns + 500'000;
    return made;
}

Operation read_of(std::uint64_t event,
                  std::uint64_t process,
                  std::uint64_t object,
                  std::uint64_t at) {
    Operation made = operation(event, process, 100);
    made.from.object = object;
    made.from.offset = at;
    return made;
}

Operation write_of(std::uint64_t event,
                   std::uint64_t process,
                   std::uint64_t object,
                   std::uint64_t at) {
    Operation made = operation(event, process, 100);
    made.to.object = object;
    made.to.offset = at;
    return made;
}

TrailFlow flow(std::uint64_t from, std::uint64_t to, std::uint64_t begin, FlowRule rule) {
    return {.from_event = from,
            .to_event = to,
            .from_offset = begin,
            .to_offset = begin,
            .bytes = 100,
            .rule = rule,
            .certainty = rule == FlowRule::kHash ? Certainty::kLikely : Certainty::kCertain};
}

// A file 7 is read in three pieces by process 5 and written to 8, which 6 reads twice; 6 writes something else to 9.
FollowTrail copied_file(std::size_t hops_max = kHopsMax) {
    std::vector<TrailFlow> flows;
    std::vector<analysis::TrailPiece> starts;
    std::vector<Operation> operations;
    for (std::uint64_t i = 0; i < 3; ++i) {
        const std::uint64_t event = 10 + i * 2;
        flows.push_back(flow(event, event + 1, i * 100, FlowRule::kHash));
        flows.push_back(flow(event + 1, 30 + i, i * 100, FlowRule::kFile));
        flows.push_back(flow(event + 1, 40 + i, i * 100, FlowRule::kFile));
        starts.push_back({event, 0, 100});
        operations.push_back(read_of(event, 5, 7, i * 100));
        operations.push_back(write_of(event + 1, 5, 8, i * 100));
        operations.push_back(read_of(30 + i, 6, 8, i * 100));
        operations.push_back(read_of(40 + i, 6, 8, i * 100));
    }
    operations.push_back(write_of(50, 6, 9, 0));
    analysis::Trail trail(flows, Direction::kForward, 1000);
    for (const analysis::TrailPiece& start : starts) {
        trail.start(start);
    }
    trail.walk();
    FollowTrailBuilder builder(trail, starts, Direction::kForward);
    std::reverse(operations.begin(), operations.end());  // they come in any order
    for (const Operation& made : operations) {
        builder.add(made, made.from.object != 0 ? kReadCall : kWriteCall);
    }
    FollowTrail result = builder.build(hops_max);
    result.question = "/tmp/a";
    result.has_content = true;
    const char* const paths[] = {"/tmp/a", "/tmp/b", "/tmp/b"};
    for (std::size_t i = 0; i < result.hops.size(); ++i) {
        FollowHop& hop = result.hops[i];
        hop.who = hop.process == 5 ? "cat[5]" : "wc[6]";
        hop.name = hop.call == kReadCall ? "read" : "write";
        hop.what = hop.path = paths[std::min<std::size_t>(i, 2)];
    }
    return result;
}

TEST(FollowTrail, folds_calls_that_are_alike_into_one_hop) {
    const FollowTrail trail = copied_file();
    ASSERT_EQ(trail.hops.size(), 3u);
    EXPECT_EQ(trail.hops[0].calls, 3u);
    EXPECT_EQ(trail.hops[0].offset, 0u);
    EXPECT_EQ(trail.hops[0].offset_end, 300u);
    EXPECT_EQ(trail.hops[0].first_event, 10u);
    EXPECT_TRUE(trail.hops[0].is_start);
    EXPECT_EQ(trail.hops[2].calls, 6u);
    EXPECT_EQ(trail.hops[2].bytes, 600u);
    EXPECT_EQ(trail.hops[2].offset_end, 300u);
    ASSERT_EQ(trail.links.size(), 2u);
    EXPECT_EQ(trail.links[1].flows, 6u);
    EXPECT_EQ(trail.flows[static_cast<std::size_t>(Certainty::kCertain)], 6u);
    EXPECT_EQ(trail.flows[static_cast<std::size_t>(Certainty::kLikely)], 3u);
}

TEST(FollowTable, has_a_column_per_process_and_time_downwards) {
    EXPECT_EQ(follow_table(copied_file(), {.width = 64}),
              "/tmp/a · where its bytes went\n"
              "              cat[5]                    wc[6]\n"
              "+0.000000 s   read /tmp/a\n"
              "+0.001000 s   write /tmp/b\n"
              "+0.020000 s                             read /tmp/b\n"
              "no gaps in this time\n");
}

TEST(FollowTable, puts_below_each_other_what_the_terminal_has_no_room_for) {
    const std::string text = follow_table(copied_file(), {.width = 40});
    EXPECT_EQ(text,
              "/tmp/a · where its bytes went\n"
              "              cat[5]\n"
              "+0.000000 s   read /tmp/a\n"
              "+0.001000 s   write /tmp/b\n"
              "\n"
              "              wc[6]\n"
              "+0.020000 s   read /tmp/b\n"
              "no gaps in this time\n");
}

TEST(FollowTable, tells_replicas_apart_whose_paths_have_no_room) {
    FollowTrail trail = copied_file();
    for (std::size_t i = 0; i < trail.hops.size(); ++i) {
        trail.hops[i].what =
            fmt::format("/srv/storage/cluster/replica-{}/current/finalized/blk_1", i + 1);
    }
    EXPECT_EQ(follow_table(trail, {.width = 64}),
              "/tmp/a · where its bytes went\n"
              "              cat[5]                    wc[6]\n"
              "+0.000000 s   read …/replica-1/current/finalized/blk_1\n"
              "+0.001000 s   write …/replica-2/current/finalized/blk_1\n"
              "+0.020000 s                             read …3/cur…alized/blk_1\n"
              "no gaps in this time\n");
}

TEST(FollowTrail, says_where_sight_is_lost) {
    const FollowTrail trail = copied_file();
    EXPECT_EQ(trail.hops[0].lost_sight, LostSight::kNot);
    EXPECT_EQ(trail.hops[1].lost_sight, LostSight::kNot);
    EXPECT_EQ(trail.hops[2].lost_sight, LostSight::kChanged);
}

TEST(FollowTrail, keeps_the_first_hops_and_counts_the_others) {
    const FollowTrail trail = copied_file(2);
    EXPECT_EQ(trail.hops.size(), 2u);
    EXPECT_EQ(trail.hops_left_out, 1u);
    EXPECT_EQ(trail.links.size(), 1u);
}

TEST(FollowText, is_a_tree) {
    EXPECT_EQ(follow_text(copied_file(), {}),
              "/tmp/a · where its bytes went\n"
              "cat[5] read /tmp/a 0–300 ×3 · +0.000 s\n"
              "└ cat[5] write /tmp/b 0–300 ×3 · likely (hash) · +0.001 s\n"
              "  └ wc[6] read /tmp/b 0–300 ×6 · certain (file) · +0.020 s\n"
              "      sight lost at event 30: its output has none of it\n"
              "3 hops · 6 certain, 3 likely, 0 possible flows · no gaps in this time\n");
}

TEST(FollowText, says_what_a_trace_without_content_lacks) {
    FollowTrail trail = copied_file();
    trail.has_content = false;
    EXPECT_NE(follow_text(trail, {}).find("record --content=hash"), std::string::npos);
    trail.hops[2].lost_sight = LostSight::kNot;
    EXPECT_EQ(follow_text(trail, {}).find("record --content=hash"), std::string::npos);
}

TEST(FollowText, says_how_to_go_on_beyond_encryption) {
    FollowTrail trail = copied_file();
    EXPECT_EQ(follow_text(trail, {}).find("--min-certainty"), std::string::npos);
    trail.hops[2].lost_sight = LostSight::kScrambled;
    EXPECT_NE(follow_text(trail, {}).find("--min-certainty possible\n"), std::string::npos);
    trail.min_certainty = Certainty::kPossible;
    EXPECT_EQ(follow_text(trail, {}).find("--min-certainty"), std::string::npos);
}

// The content was met in three places, in one of them only because it went there.
TEST(FollowTrail, has_no_start_that_was_reached_from_an_earlier_one) {
    analysis::Trail trail({flow(10, 11, 0, FlowRule::kHash)}, Direction::kForward, 100);
    const std::vector<analysis::TrailPiece> starts = {{10, 0, 100}, {11, 0, 100}, {20, 0, 100}};
    for (const analysis::TrailPiece& start : starts) {
        trail.start(start);
    }
    trail.walk();
    FollowTrailBuilder builder(trail, starts, Direction::kForward, true);
    builder.add(read_of(10, 5, 7, 0), kReadCall);
    builder.add(write_of(11, 5, 8, 0), kWriteCall);
    builder.add(read_of(20, 6, 9, 0), kReadCall);
    const FollowTrail result = builder.build(kHopsMax);
    ASSERT_EQ(result.hops.size(), 3u);
    EXPECT_TRUE(result.hops[0].is_start);
    EXPECT_FALSE(result.hops[1].is_start);
    EXPECT_TRUE(result.hops[2].is_start);
}

// Who sends may be interrupted before its call ends, when the other one has long taken the bytes.
TEST(FollowTrail, begins_with_who_sent_even_if_that_was_done_later_than_the_receiver) {
    Operation sent = write_of(10, 5, 7, 0), taken = read_of(11, 6, 8, 0);
    sent.end_ns = taken.end_ns + 1;
    for (const Direction direction : {Direction::kForward, Direction::kBack}) {
        analysis::Trail trail({flow(10, 11, 0, FlowRule::kTcp)}, direction, 100);
        const std::vector<analysis::TrailPiece> starts = {{10, 0, 100}, {11, 0, 100}};
        for (const analysis::TrailPiece& start : starts) {
            trail.start(start);
        }
        trail.walk();
        FollowTrailBuilder builder(trail, starts, direction, true);
        builder.add(taken, kReadCall);
        builder.add(sent, kWriteCall);
        const FollowTrail result = builder.build(kHopsMax);
        ASSERT_EQ(result.hops.size(), 2u);
        EXPECT_EQ(result.hops[0].first_event, 10u);
        EXPECT_EQ(result.hops[0].is_start, direction == Direction::kForward);
        EXPECT_EQ(result.hops[1].is_start, direction == Direction::kBack);
    }
}

// Text of 22 byte values in 64 goes in; what comes out has 58.
TEST(FollowTrail, says_why_sight_may_be_lost) {
    for (const auto& [taken, given, lost] : {std::tuple(22u, 58u, LostSight::kScrambled),
                                             std::tuple(58u, 22u, LostSight::kUnscrambled),
                                             std::tuple(22u, 25u, LostSight::kChanged),
                                             std::tuple(0u, 58u, LostSight::kChanged)}) {
        for (const Direction direction : {Direction::kForward, Direction::kBack}) {
            const bool forward = direction == Direction::kForward;
            analysis::Trail trail({}, direction, 100);
            const analysis::TrailPiece start{forward ? 10u : 11u, 0, 100};
            trail.start(start);
            trail.walk();
            FollowTrailBuilder builder(trail, {start}, direction);
            Operation read = read_of(10, 5, 7, 0), write = write_of(11, 5, 8, 0);
            read.distinct_bytes = taken;
            write.distinct_bytes = given;
            builder.add(read, kReadCall);
            builder.add(write, kWriteCall);
            FollowTrail result = builder.build(kHopsMax);
            ASSERT_EQ(result.hops.size(), 1u);
            EXPECT_EQ(result.hops[0].lost_sight, lost) << taken << " " << given << " " << forward;
        }
    }
}

TEST(FollowText, says_what_is_missing) {
    FollowTrail trail = copied_file(2);
    trail.gaps = "1 gap";
    trail.is_cut = true;
    const std::string text = follow_text(trail, {});
    EXPECT_NE(text.find("… 1 more lines are left out"), std::string::npos);
    EXPECT_NE(text.find("longer than follow goes"), std::string::npos);
    EXPECT_NE(text.find("flows · 1 gap\n"), std::string::npos);
}

// A chain that is as deep as it is long, and comes round to its beginning.
FollowTrail long_chain(std::size_t length) {
    FollowTrail trail;
    trail.question = "/x";
    for (std::size_t i = 0; i < length; ++i) {
        FollowHop hop;
        hop.who = "relay[" + std::to_string(i) + "]";
        hop.name = i % 2 == 0 ? "read" : "write";
        hop.what = "/a/folder/with/a/rather/long/name/and/a/file/" + std::to_string(i);
        hop.offset = 0;
        hop.offset_end = 1'000'000'000;
        hop.calls = 12'345;
        hop.is_start = i == 0;
        trail.hops.push_back(hop);
        trail.links.push_back({.near = i, .far = (i + 1) % length, .flows = 1, .rules = 1});
    }
    return trail;
}

TEST(FollowText, of_a_circle_refers_to_what_was_told) {
    const std::string text = follow_text(long_chain(3), {.width = 200});
    EXPECT_NE(text.find("file/0 0–1,000,000,000 ×12,345 #1 · +0.000 s\n"), std::string::npos)
        << text;
    EXPECT_NE(text.find("relay[0] read /a/folder/with/a/rather/long/name/and/a/file/0 · see #1"),
              std::string::npos)
        << text;
}

TEST(FollowText, stays_within_its_lines_and_mostly_in_the_terminal) {
    const std::string text = follow_text(long_chain(5'000), {});
    EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')),
              kFollowLinesMax + 3);
    std::size_t begin = 0;
    for (int line = 0; line < 8; ++line) {
        const std::size_t end = text.find('\n', begin);
        EXPECT_LE(base::display_width(text.substr(begin, end - begin)), 80u);
        begin = end + 1;
    }
}

TEST(FollowText, shows_names_without_harm) {
    FollowTrail trail = copied_file();
    trail.hops[0].what = "/tmp/\x1b[2J";
    EXPECT_EQ(follow_text(trail, {}).find('\x1b'), std::string::npos);
    EXPECT_EQ(follow_dot(trail).find('\x1b'), std::string::npos);
}

TEST(FollowJson, has_hops_links_and_ids_as_text) {
    const base::Json json = base::Json::parse(follow_json(copied_file())).value();
    ASSERT_EQ(json.items_at("hops").size(), 3u);
    EXPECT_EQ(json.items_at("hops")[0].get<std::string>("first_event_id").value(), "10");
    ASSERT_EQ(json.items_at("links").size(), 2u);
    EXPECT_EQ(json.items_at("links")[1].get<std::uint64_t>("from_hop").value(), 1u);
    EXPECT_EQ(json.items_at("links")[1].get<std::uint64_t>("to_hop").value(), 2u);
    EXPECT_EQ(json.items_at("links")[1].get<std::string>("certainty").value(), "certain");
}

TEST(FollowJson, points_from_cause_to_effect_whichever_way_was_asked) {
    FollowTrail trail = copied_file();
    trail.direction = Direction::kBack;
    const base::Json json = base::Json::parse(follow_json(trail)).value();
    EXPECT_EQ(json.items_at("links")[1].get<std::uint64_t>("from_hop").value(), 2u);
    EXPECT_NE(follow_dot(trail).find("2 -> 1 [label=\"certain (file), 600 B\"]"), std::string::npos)
        << follow_dot(trail);
}

// One row as sql/moves.sql gives it; schema::kDerivedNull stands for NULL.
Operation operation_of(const std::vector<std::uint64_t>& row) {
    static constexpr std::uint64_t kNull = 0, kThere = 1;  // validity of one row
    store::NumberColumns columns;
    columns.reserve(row.size());
    for (const std::uint64_t& number : row) {
        columns.emplace_back(store::NumberType::kUnsigned,
                             &number,
                             number == schema::kDerivedNull ? &kNull : &kThere);
    }
    return query::operation_in(columns, 0);
}

std::vector<std::uint64_t> row_of(schema::Transfer transfer) {
    std::vector<std::uint64_t> row(query::kMoveColumns, 0);
    row[query::kMoveEvent] = 1;
    row[query::kMoveTransfer] = static_cast<std::uint64_t>(transfer);
    row[query::kMoveBytes] = 10;
    row[query::kMoveObject] = 7;
    row[query::kMoveChannel] = static_cast<std::uint64_t>(analysis::Channel::kFile);
    row[query::kMoveCounted] = 1;
    row[query::kMoveOffsetCertain] = 1;
    row[query::kMoveObject2] = 8;
    row[query::kMoveCounted2] = 1;
    row[query::kMoveOffset2Certain] = 1;
    row[query::kMoveFingerprint] = schema::kDerivedNull;
    return row;
}

TEST(FlowRows, know_which_side_a_call_takes_from_and_puts_to) {
    EXPECT_EQ(operation_of(row_of(schema::Transfer::kRead)).from.object, 7u);
    EXPECT_EQ(operation_of(row_of(schema::Transfer::kRead)).to.object, 0u);
    EXPECT_EQ(operation_of(row_of(schema::Transfer::kWrite)).to.object, 7u);
    EXPECT_EQ(operation_of(row_of(schema::Transfer::kCopyTo)).from.object, 7u);
    EXPECT_EQ(operation_of(row_of(schema::Transfer::kCopyTo)).to.object, 8u);
    EXPECT_EQ(operation_of(row_of(schema::Transfer::kCopyFrom)).from.object, 8u);
    EXPECT_EQ(operation_of(row_of(schema::Transfer::kCopyFrom)).to.object, 7u);
    EXPECT_TRUE(operation_of(row_of(schema::Transfer::kTee)).from.peeks);
    EXPECT_TRUE(operation_of(row_of(schema::Transfer::kPeek)).from.peeks);
    EXPECT_FALSE(operation_of(row_of(schema::Transfer::kRead)).from.peeks);
}

TEST(FlowRows, tell_what_is_not_certain_and_not_known) {
    std::vector<std::uint64_t> row = row_of(schema::Transfer::kRead);
    EXPECT_TRUE(operation_of(row).from.certain);
    EXPECT_FALSE(operation_of(row).fingerprint);
    row[query::kMoveOffsetCertain] = 0;
    row[query::kMoveFingerprint] = 42;
    EXPECT_FALSE(operation_of(row).from.certain);
    EXPECT_EQ(operation_of(row).fingerprint, 42u);
    std::vector<std::uint64_t> copy = row_of(schema::Transfer::kCopyTo);
    EXPECT_TRUE(operation_of(copy).to.certain);
    copy[query::kMoveOffset2Certain] = 0;
    EXPECT_FALSE(operation_of(copy).to.certain);
    EXPECT_TRUE(operation_of(copy).from.certain);
}

}  // namespace
}  // namespace dyetrace::reports
