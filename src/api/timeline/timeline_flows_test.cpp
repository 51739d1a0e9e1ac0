#include "api/timeline/timeline_flows.h"

#include <gtest/gtest.h>

#include <string>

namespace dyetrace::api {
namespace {

constexpr std::uint32_t kFirstProcess = 1, kFirstThread = 2, kSecondThread = 3, kOtherProcess = 4,
                        kOtherThread = 5;

// A node with two processes; the first has two threads. Each thread has a call of 10 ns every 100 ns; event 1002 is the third of thread 1.
TimelineIndex three_threads(std::uint64_t calls) {
    TimelineIndex::Builder builder;
    const std::uint32_t node = builder.add_row();
    std::uint32_t process = builder.add_row(node);
    for (std::uint64_t thread = 1; thread <= 3; ++thread) {
        if (thread == 3) {
            process = builder.add_row(node);
        }
        Lane lane;
        for (std::uint64_t i = 0; i < calls; ++i) {
            lane.add({.begin_ns = 100 * i, .end_ns = 100 * i + 10, .id = 1000 * thread + i});
        }
        lane.finish();
        builder.add_thread(process, std::move(lane));
    }
    return std::move(builder).finish();
}

std::string words(const std::vector<DrawnFlow>& flows) {
    std::string text;
    for (const DrawnFlow& flow : flows) {
        text += std::to_string(flow.from_row) + "@" + std::to_string(flow.from_ns) + " > " +
                std::to_string(flow.to_row) + "@" + std::to_string(flow.to_ns) + " x" +
                std::to_string(flow.count) + " " + std::to_string(flow.bytes) +
                (flow.is_certain ? " certain\n" : "\n");
    }
    return text;
}

constexpr TimeWindow kWindow{.from_ns = 100, .to_ns = 1100, .width = 1000};

TEST(TimelineFlows, go_from_the_begin_of_one_event_to_the_end_of_another) {
    const std::vector<FoundFlow> found = {{1002, 3004, 7, true}, {2001, 1003, 9, false}};
    const TimelineFlows flows(three_threads(10), found);
    const std::vector<std::uint32_t> rows = {
        0, kFirstProcess, kFirstThread, kSecondThread, kOtherProcess, kOtherThread};
    EXPECT_EQ(words(flows.drawn(kWindow, rows)),
              "3@100 > 2@310 x1 9\n"
              "2@200 > 5@410 x1 7 certain\n");
}

TEST(TimelineFlows,
     belong_to_the_row_that_their_thread_is_folded_into_and_inside_of_one_are_not_drawn) {
    const std::vector<FoundFlow> found = {{1002, 3004, 7, true}, {2001, 1003, 9, false}};
    const TimelineFlows flows(three_threads(10), found);
    const std::vector<std::uint32_t> folded = {0, kFirstProcess, kOtherProcess};
    EXPECT_EQ(words(flows.drawn(kWindow, folded)), "1@200 > 4@410 x1 7 certain\n");
    const std::vector<std::uint32_t> half = {kFirstProcess};
    EXPECT_EQ(words(flows.drawn(kWindow, half)), "");
}

TEST(TimelineFlows, that_end_before_the_window_or_begin_after_it_are_not_drawn) {
    const std::vector<FoundFlow> found = {
        {1000, 3000, 1, true}, {1000, 3001, 2, true}, {1011, 3012, 3, true}, {1005, 3099, 4, true}};
    const TimelineFlows flows(three_threads(20), found);
    EXPECT_EQ(flows.size(), 3u);  // there is no event 3099
    const std::vector<std::uint32_t> rows = {kFirstThread, kOtherThread};
    EXPECT_EQ(words(flows.drawn(kWindow, rows)), "2@0 > 5@110 x1 2 certain\n");
}

TEST(TimelineFlows, are_bundles_when_there_are_many_and_no_byte_is_lost_in_them) {
    std::vector<FoundFlow> found;
    for (std::uint64_t i = 0; i + 1 < 900; ++i) {
        found.push_back({1000 + i, 3001 + i, 2, i != 5});
    }
    // Ids of a thread stay below those of the next one.
    TimelineIndex::Builder builder;
    const std::uint32_t node = builder.add_row();
    for (const std::uint64_t thread : {1u, 3u}) {
        Lane lane;
        for (std::uint64_t i = 0; i < 900; ++i) {
            lane.add({.begin_ns = 100 * i, .end_ns = 100 * i + 10, .id = 1000 * thread + i});
        }
        lane.finish();
        builder.add_thread(node, std::move(lane));
    }
    const TimelineFlows flows(std::move(builder).finish(), found);
    const std::vector<std::uint32_t> rows = {1, 2};
    const auto drawn = flows.drawn({.from_ns = 0, .to_ns = 90'000, .width = 240}, rows);
    std::uint64_t count = 0, bytes = 0, certain = 0;
    for (const DrawnFlow& flow : drawn) {
        count += flow.count;
        bytes += flow.bytes;
        certain += flow.is_certain ? 1 : 0;
    }
    EXPECT_LE(drawn.size(),
              21u);  // ten places to leave from, and an arrival in the same one or the next
    EXPECT_EQ(count, 899u);
    EXPECT_EQ(bytes, 2 * 899u);
    EXPECT_EQ(certain, drawn.size() - 1);
}

}  // namespace
}  // namespace dyetrace::api
