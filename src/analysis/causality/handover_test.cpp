// Calls as little stories: what is handed over, and where nothing may be said.
#include "analysis/causality/handover.h"

#include <gtest/gtest.h>

#include <string>

#include "analysis/causality/handover_stories.h"

namespace dyetrace::analysis {
namespace {

struct Call {
    ActKind kind;
    std::uint64_t event, start, end;
    std::uint64_t thread = 0;  // its own unless told
    std::uint64_t holder = 0;
};

// Tells the calls in order of time; "1>2 3>2" for what was found.
std::string handed_over(const std::vector<Call>& calls, std::uint64_t key = 7) {
    std::vector<HandoverAct> acts;
    acts.reserve(calls.size());
    for (const Call& call : calls) {
        acts.push_back({.kind = call.kind,
                        .event = call.event,
                        .thread = call.thread == 0 ? call.event : call.thread,
                        .start_ns = call.start,
                        .end_ns = call.end,
                        .key = key,
                        .holder = call.holder});
    }
    return text_of(handovers_of(acts));
}

constexpr auto kSent = ActKind::kSignalSent;
constexpr auto kDelivered = ActKind::kSignalDelivered;

TEST(HandoverSignal, is_delivered_from_the_first_that_was_sent_and_not_delivered) {
    EXPECT_EQ(handed_over({{kSent, 1, 10, 20}, {kDelivered, 2, 30, 30}}), "1>2");
    EXPECT_EQ(handed_over({{kDelivered, 2, 5, 5}, {kSent, 1, 10, 20}}), "");
}

TEST(HandoverSignal, what_is_sent_while_it_waits_is_dropped) {
    EXPECT_EQ(handed_over({{kSent, 1, 10, 20},
                           {kSent, 2, 21, 25},
                           {kDelivered, 3, 30, 30},
                           {kSent, 4, 40, 50},
                           {kDelivered, 5, 60, 60}}),
              "1>3 4>5");
}

TEST(HandoverSignal, a_kill_under_way_may_be_the_next_one) {
    EXPECT_EQ(handed_over({{kSent, 1, 10, 20},
                           {kSent, 2, 25, 40},
                           {kDelivered, 3, 30, 30},
                           {kDelivered, 5, 60, 60}}),
              "1>3 2>5");
}

TEST(HandoverSignal, queued_ones_come_one_by_one) {
    EXPECT_EQ(handed_over({{ActKind::kQueuedSignalSent, 1, 10, 20},
                           {ActKind::kQueuedSignalSent, 2, 21, 25},
                           {ActKind::kQueuedSignalDelivered, 3, 30, 30},
                           {ActKind::kQueuedSignalDelivered, 4, 31, 31}}),
              "1>3 2>4");
}

constexpr auto kWoke = ActKind::kFutexWoke;
constexpr auto kWaited = ActKind::kFutexWaited;

TEST(HandoverFutex, wakes_who_waits) {
    EXPECT_EQ(handed_over({{kWaited, 1, 10, 40}, {kWoke, 2, 30, 35}}), "2>1");
    EXPECT_EQ(handed_over({{kWaited, 1, 10, 32}, {kWoke, 2, 30, 35}}), "2>1")
        << "before the wake has returned";
    EXPECT_EQ(handed_over({{kWoke, 2, 1, 5}, {kWaited, 1, 10, 40}}), "");
}

TEST(HandoverFutex, of_two_wakes_nobody_knows_which_it_was) {
    EXPECT_EQ(handed_over({{kWaited, 1, 10, 40}, {kWoke, 2, 30, 35}, {kWoke, 3, 31, 36}}), "");
}

TEST(HandoverFutex, a_wake_that_was_forgotten_may_have_been_it) {
    std::vector<Call> calls = {{kWoke, 1, 1, 10'000}};
    for (std::uint64_t i = 0; i < kHandoverGivesMax - 1; ++i) {
        calls.push_back({kWoke, 100 + i, 20 + i, 20 + i});
    }
    calls.push_back({kWaited, 2, 5'000, 9'000});
    EXPECT_EQ(handed_over(calls), "1>2");
    calls.push_back({kWoke, 3, 6'000, 6'001});
    EXPECT_EQ(handed_over(calls), "");
}

TEST(HandoverLock, is_got_after_it_was_let_go) {
    EXPECT_EQ(handed_over({{kExclusive, 1, 10, 11, 1, 1},
                           {kExclusive, 2, 12, 31, 2, 2},
                           {kUnlocked, 3, 30, 33, 1, 1}}),
              "3>2");
}

TEST(HandoverLock, each_comes_after_the_one_before_it) {
    EXPECT_EQ(handed_over({{kExclusive, 1, 10, 11, 1, 1},
                           {kUnlocked, 2, 12, 13, 1, 1},
                           {kExclusive, 3, 20, 21, 2, 2},
                           {kUnlocked, 4, 22, 23, 2, 2},
                           {kExclusive, 5, 30, 31, 3, 3}}),
              "2>3 4>5");
}

TEST(HandoverLock, readers_do_not_wait_for_each_other) {
    EXPECT_EQ(handed_over({{kShared, 1, 10, 11, 1, 1},
                           {kUnlocked, 2, 12, 13, 1, 1},
                           {kShared, 3, 20, 21, 2, 2},
                           {kUnlocked, 4, 22, 23, 2, 2},
                           {kExclusive, 5, 30, 31, 3, 3}}),
              "2>5 4>5");
}

TEST(HandoverLock, who_holds_none_lets_none_go) {
    EXPECT_EQ(handed_over({{kUnlocked, 1, 10, 11, 1, 1}, {kExclusive, 2, 20, 21, 2, 2}}), "");
}

constexpr auto kMade = ActKind::kCounterMade;
constexpr auto kAdded = ActKind::kCounterAdded;
constexpr auto kRead = ActKind::kCounterRead;

TEST(HandoverCounter, a_read_has_what_was_added_before_it) {
    EXPECT_EQ(handed_over({{kMade, 1, 1, 2},
                           {kAdded, 2, 10, 11, 2},
                           {kAdded, 3, 12, 13, 2},
                           {kAdded, 4, 14, 15, 4},
                           {kRead, 5, 20, 21}}),
              "4>5 3>5");
}

TEST(HandoverCounter, a_read_that_waited_has_what_was_added_meanwhile) {
    EXPECT_EQ(handed_over({{kMade, 1, 1, 2}, {kRead, 2, 10, 40}, {kAdded, 3, 30, 35}}), "3>2");
}

TEST(HandoverCounter, of_which_a_read_left_nothing_is_known_from_there_on) {
    EXPECT_EQ(handed_over({{kRead, 1, 5, 6, 0, 1}, {kRead, 2, 10, 40}, {kAdded, 3, 30, 35}}), "3>2")
        << "it was made before the recording";
    EXPECT_EQ(handed_over({{kMade, 1, 1, 2, 0, 1}, {kRead, 2, 10, 40, 0, 1}, {kAdded, 3, 30, 35}}),
              "3>2")
        << "a semaphore";
    EXPECT_EQ(handed_over({{kMade, 1, 1, 2, 0, 1},
                           {kAdded, 2, 5, 6},
                           {kRead, 3, 10, 11, 0, 1},
                           {kRead, 4, 20, 40},
                           {kAdded, 5, 30, 35}}),
              "2>3 5>4");
}

TEST(HandoverCounter, what_may_be_left_tells_nothing_of_what_is_added_meanwhile) {
    EXPECT_EQ(handed_over({{kRead, 2, 10, 40}, {kAdded, 3, 30, 35}}), "")
        << "it was made before the recording";
    EXPECT_EQ(handed_over({{kMade, 1, 1, 2, 0, 1},
                           {kAdded, 2, 5, 6},
                           {kRead, 3, 10, 11},
                           {kRead, 4, 20, 40},
                           {kAdded, 5, 30, 35}}),
              "2>3")
        << "a semaphore";
    EXPECT_EQ(handed_over(
                  {{ActKind::kCounterMadeFull, 1, 1, 2}, {kRead, 2, 10, 40}, {kAdded, 3, 30, 35}}),
              "1>2");
    EXPECT_EQ(handed_over(
                  {{kMade, 1, 1, 2}, {kRead, 2, 10, 40}, {kAdded, 3, 30, 35}, {kAdded, 4, 31, 36}}),
              "");
}

}  // namespace
}  // namespace dyetrace::analysis
