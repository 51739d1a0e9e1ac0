// Queues of messages: who has whose, and how sure that is.
#include "analysis/dataflow/mailbox.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace dyetrace::analysis {
namespace {

struct Call {
    char kind;  // 's'ends, 't'akes
    std::uint64_t event, start, end, type = 1, bytes = 10, fingerprint = 0;
};

struct Told {
    bool balanced = false, empties = false;
};

// Tells the calls in order of time; "1>2! 3>4?": certain, likely; possible has neither.
std::string found_in(const std::vector<Call>& calls, Told told = {}) {
    struct Moment {
        std::uint64_t ns;
        bool is_start;
        const Call* call;
    };
    std::vector<Moment> moments;
    for (const Call& call : calls) {
        moments.push_back({call.start, true, &call});
        moments.push_back({call.end, false, &call});
    }
    std::stable_sort(moments.begin(), moments.end(), [](const Moment& a, const Moment& b) {
        return a.ns < b.ns;
    });
    Mailbox mailbox;
    std::vector<Flow> flows;
    for (const Moment& moment : moments) {
        const Call& call = *moment.call;
        if (moment.is_start) {
            call.kind == 's' ? mailbox.send_starts(call.event) : mailbox.take_starts(call.event);
            continue;
        }
        Operation operation;
        operation.event = call.event;
        operation.start_ns = call.start;
        operation.end_ns = call.end;
        operation.bytes = call.bytes;
        if (call.fingerprint != 0) {
            operation.fingerprint = call.fingerprint;
        }
        Side side;
        side.channel = Channel::kQueue;
        side.balanced = told.balanced;
        side.empties = told.empties;
        side.object = 7;
        side.other = call.type;
        (call.kind == 's' ? operation.to : operation.from) = side;
        Act act;
        act.event = call.event;
        act.object = 7;
        act.start_ns = call.start;
        act.end_ns = call.end;
        call.kind == 's' ? mailbox.sent(operation, act, flows)
                         : mailbox.taken(operation, act, flows);
    }
    std::string text;
    for (const Flow& flow : flows) {
        const std::string_view sure = flow.certainty == schema::Certainty::kCertain  ? "!"
                                      : flow.certainty == schema::Certainty::kLikely ? "?"
                                                                                     : "";
        text +=
            fmt::format("{}{}>{}{}", text.empty() ? "" : " ", flow.from_event, flow.to_event, sure);
    }
    return text;
}

TEST(Mailbox, of_one_type_the_first_is_taken_first) {
    EXPECT_EQ(found_in({{'s', 1, 1, 2},
                        {'s', 2, 3, 4, 2},
                        {'s', 3, 5, 6},
                        {'t', 4, 7, 8, 2},
                        {'t', 5, 9, 10},
                        {'t', 6, 11, 12}}),
              "2>4! 1>5! 3>6!");
}

TEST(Mailbox, who_does_not_say_the_priority_has_the_highest) {
    EXPECT_EQ(found_in({{'s', 1, 1, 2}, {'s', 2, 3, 4, 3}, {'t', 4, 7, 8, 0}, {'t', 5, 9, 10, 0}}),
              "2>4! 1>5!");
    EXPECT_EQ(found_in({{'s', 1, 1, 2}, {'s', 2, 3, 8, 3, 9}, {'t', 4, 6, 7, 0}}), "1>4?")
        << "one with a higher priority is being sent";
}

TEST(Mailbox, who_waits_has_what_was_sent_meanwhile) {
    EXPECT_EQ(found_in({{'t', 1, 1, 6}, {'s', 2, 4, 5}}), "2>1!");
    EXPECT_EQ(found_in({{'t', 1, 1, 6}, {'s', 2, 4, 8}}), "2>1!")
        << "before the sender has returned";
}

TEST(Mailbox, what_a_call_has_sent_is_its_own_though_another_one_was_sent_meanwhile) {
    EXPECT_EQ(
        found_in({{'s', 1, 1, 9, 1, 8}, {'t', 2, 2, 3, 1, 8}, {'s', 3, 4, 5}, {'t', 4, 6, 7}}),
        "3>4? 1>2?");
}

TEST(Mailbox, of_several_who_wait_the_only_message_was_for_who_returned) {
    EXPECT_EQ(found_in({{'t', 1, 1, 6}, {'t', 2, 2, 20}, {'s', 3, 4, 5}, {'s', 4, 14, 15}}),
              "3>1! 4>2!");
    EXPECT_EQ(found_in({{'t', 1, 1, 16}, {'t', 2, 2, 20}, {'s', 3, 4, 5}, {'s', 4, 6, 7}}),
              "3>1? 4>2?");
}

TEST(Mailbox, lengths_and_fingerprints_tell_messages_that_overlapped_apart) {
    EXPECT_EQ(
        found_in({{'t', 1, 1, 16, 1, 8}, {'t', 2, 2, 20}, {'s', 3, 4, 5}, {'s', 4, 6, 7, 1, 8}}),
        "4>1? 3>2?");
    EXPECT_EQ(found_in({{'t', 1, 1, 16, 1, 8, 5},
                        {'t', 2, 2, 20, 1, 8, 6},
                        {'s', 3, 4, 5, 1, 8, 6},
                        {'s', 4, 6, 7, 1, 8, 5}}),
              "4>1? 3>2?");
}

TEST(Mailbox, what_was_there_before_is_not_what_was_sent_later) {
    EXPECT_EQ(found_in({{'t', 1, 1, 2}, {'s', 2, 3, 4}, {'t', 3, 5, 6}}, {.balanced = true}),
              "2>3");
    EXPECT_EQ(found_in({{'t', 1, 1, 2}, {'s', 2, 3, 4, 1, 10, 5}, {'t', 3, 5, 6, 1, 10, 5}},
                       {.balanced = true}),
              "2>3?");
    EXPECT_EQ(found_in({{'t', 1, 1, 2}, {'s', 2, 3, 4}, {'t', 3, 5, 6}},
                       {.balanced = true, .empties = true}),
              "2>3!")
        << "the kernel says that nothing was left";
}

}  // namespace
}  // namespace dyetrace::analysis
