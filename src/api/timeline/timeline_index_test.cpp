#include "api/timeline/timeline_index.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace dyetrace::api {
namespace {

constexpr std::uint8_t kFile = 1, kNetwork = 3, kWait = 7;

struct Call {
    std::uint64_t begin_ns, end_ns;
    std::uint8_t call_class = kFile;
    double waited = 0;
};

Lane lane_of(std::initializer_list<Call> calls) {
    Lane lane;
    std::uint64_t id = 0;
    for (const Call& call : calls) {
        lane.add({.begin_ns = call.begin_ns,
                  .end_ns = call.end_ns,
                  .id = ++id,
                  .call_class = call.call_class,
                  .waited = call.waited});
    }
    lane.finish();
    return lane;
}

// "[2,5) 1 file 100 %" and so on: from where to where, events, class, how full: in calls, at work, running.
std::string words(const std::vector<TimelineRun>& runs) {
    std::string text;
    for (const TimelineRun& run : runs) {
        const auto percent = [](std::uint8_t part) {
            return std::to_string(std::lround(part / 2.55));
        };
        const auto place = [](float x) { return std::to_string(std::lround(x * 10)); };
        text += place(run.x0) + "-" + place(run.x1) + " x" + std::to_string(run.count) + " class" +
                std::to_string(run.colour) + " " + percent(run.fill) + "/" + percent(run.work) +
                "/" + percent(run.ran) +
                ((run.flags & TimelineRun::kSingle) != 0 ? " #" + std::to_string(run.event) : "") +
                "\n";
    }
    return text;
}

TimelineIndex index_of(std::vector<Lane> lanes) {
    TimelineIndex::Builder builder;
    const std::uint32_t host = builder.add_row(), process = builder.add_row(host);
    for (Lane& lane : lanes) {
        builder.add_thread(process, std::move(lane));
    }
    return std::move(builder).finish();
}

TimelineIndex index_of(std::initializer_list<Call> calls) {
    std::vector<Lane> lanes;
    lanes.push_back(lane_of(calls));
    return index_of(std::move(lanes));
}

constexpr std::uint32_t kHostRow = 0, kProcessRow = 1, kThreadRow = 2;
constexpr TimeWindow kTenPixels{.from_ns = 1000, .to_ns = 2000, .width = 10};

TEST(TimelineIndex, long_calls_are_slices_with_their_exact_ends) {
    const TimelineIndex index =
        index_of({{900, 1050}, {1250, 1475, kNetwork, 1.0}, {1900, 5000, kWait, 0.5}});
    EXPECT_EQ(words(index.runs(kThreadRow, kTenPixels, TimelineColour::kClass)),
              "-10-5 x1 class1 100/100/100 #1\n"
              "25-48 x1 class3 100/100/0 #2\n"
              "90-110 x1 class7 100/100/50 #3\n");
}

TEST(TimelineIndex, short_calls_of_a_pixel_are_one_run_that_says_how_much_of_it_they_take) {
    const TimelineIndex index =
        index_of({{1100, 1125}, {1150, 1175, kNetwork, 1.0}, {1175, 1176}, {1500, 1510}});
    EXPECT_EQ(words(index.runs(kThreadRow, kTenPixels, TimelineColour::kClass)),
              "10-20 x3 class1 50/50/25\n"
              "50-51 x1 class1 100/100/100 #4\n");
}

TEST(TimelineIndex, pixels_that_look_the_same_are_one_run) {
    const TimelineIndex index = index_of(
        {{1100, 1150}, {1160, 1170}, {1200, 1250}, {1260, 1270}, {1300, 1350}, {1360, 1370}});
    EXPECT_EQ(words(index.runs(kThreadRow, kTenPixels, TimelineColour::kClass)),
              "10-40 x6 class1 59/59/59\n");
}

TEST(TimelineIndex, waiting_gives_a_pixel_its_colour_only_where_there_is_nothing_else) {
    const TimelineIndex index =
        index_of({{1100, 1190, kWait}, {1191, 1195}, {1200, 1250, kWait}, {1251, 1290, kWait}});
    EXPECT_EQ(words(index.runs(kThreadRow, kTenPixels, TimelineColour::kClass)),
              "10-20 x2 class1 94/25/3\n"
              "20-30 x2 class7 87/0/0\n");
}

TEST(TimelineIndex, a_moment_at_the_end_of_the_window_is_not_in_it) {
    const TimelineIndex index = index_of({{999, 1000}, {1000, 1000}, {1999, 1999}, {2000, 2000}});
    EXPECT_EQ(words(index.runs(kThreadRow, kTenPixels, TimelineColour::kClass)),
              "0-0 x1 class1 100/100/100 #2\n"
              "100-100 x1 class1 100/100/100 #3\n");
}

TEST(TimelineIndex, a_process_shows_how_many_of_its_threads_were_busy) {
    std::vector<Lane> lanes;
    lanes.push_back(lane_of({{1000, 2000}}));
    lanes.push_back(lane_of({{1500, 2000, kNetwork, 1.0}}));
    lanes.push_back(lane_of({{1500, 2000, kNetwork, 1.0}}));
    const TimelineIndex index = index_of(std::move(lanes));
    for (const std::uint32_t row : {kHostRow, kProcessRow}) {
        EXPECT_EQ(words(index.runs(row, kTenPixels, TimelineColour::kClass)),
                  "0-50 x1 class1 50/50/50\n"  // log2(1 + 1) / log2(1 + 3)
                  "50-100 x2 class3 100/100/50\n");
    }
    EXPECT_EQ(index.rows()[kProcessRow].events, 3u);
    EXPECT_EQ(index.rows()[kProcessRow].lanes, 3u);
}

TEST(TimelineIndex, colours_say_class_content_or_latency) {
    Lane lane;
    lane.add({.begin_ns = 1000,
              .end_ns = 1'001'000,
              .id = 1,
              .name = 77,
              .call_class = kNetwork,
              .content = content_colour(0x1234),
              .is_error = true,
              .is_unfinished = true});
    lane.finish();
    std::vector<Lane> lanes;
    lanes.push_back(std::move(lane));
    const TimelineIndex index = index_of(std::move(lanes));
    const auto run = [&](TimelineColour as) {
        return index.runs(kThreadRow, kTenPixels, as).at(0);
    };
    EXPECT_EQ(run(TimelineColour::kClass).colour, kNetwork);
    EXPECT_EQ(run(TimelineColour::kContent).colour, content_colour(0x1234));
    EXPECT_EQ(run(TimelineColour::kLatency).colour, 4);  // 1 to 10 ms
    EXPECT_EQ(
        run(TimelineColour::kClass).flags,
        TimelineRun::kError | TimelineRun::kUnfinished | TimelineRun::kSingle | TimelineRun::kWork);
    EXPECT_EQ(run(TimelineColour::kClass).name, 77);
}

TEST(TimelineIndex, contents_have_colours_of_their_own_and_none_has_zero) {
    std::uint32_t seen = 0;
    for (std::uint64_t fingerprint = 0; fingerprint < 1000; ++fingerprint) {
        seen |= 1u << content_colour(fingerprint);
    }
    EXPECT_EQ(seen, (1u << (kContents + 1)) - 2);
}

TEST(TimelineIndex, without_events_there_is_nothing_to_see) {
    TimelineIndex::Builder builder;
    const std::uint32_t host = builder.add_row();
    const TimelineIndex index = std::move(builder).finish();
    EXPECT_TRUE(index.runs(host, kTenPixels, TimelineColour::kClass).empty());
    EXPECT_EQ(index.begin_ns(), 0u);
    EXPECT_EQ(index.end_ns(), 0u);
}

// 24 bytes an event, a seventh of 40 for sums, and up to 9 of an activity.
TEST(TimelineIndex, keeps_nothing_of_what_it_was_made_from) {
    constexpr std::uint64_t kLanes = 40, kEvents = 1'000;
    std::vector<Lane> lanes(kLanes);
    for (Lane& lane : lanes) {
        for (std::uint64_t i = 0; i < kEvents; ++i) {
            lane.add({.begin_ns = i * 1'000, .end_ns = i * 1'000 + 500, .id = i});
        }
        lane.finish();
    }
    EXPECT_LE(index_of(std::move(lanes)).bytes() / (kLanes * kEvents), 40u);
}

TEST(LaneEvent, holds_short_durations_exactly_and_long_ones_to_eight_nanoseconds_a_second) {
    for (std::uint64_t duration = 1; duration < std::uint64_t{1} << 57;
         duration = duration * 3 + 1) {
        const LaneEvent event({.begin_ns = 1000, .end_ns = 1000 + duration});
        EXPECT_LE(event.duration_ns(), duration);
        EXPECT_LE(duration - event.duration_ns(), duration >> 26);
    }
    EXPECT_EQ(LaneEvent({.begin_ns = 5, .end_ns = 100'000'005}).end_ns(), 100'000'005u);
    EXPECT_EQ(LaneEvent({.begin_ns = 5, .end_ns = 4}).duration_ns(), 0u);
}

}  // namespace
}  // namespace dyetrace::api
