// Two simulated hosts whose calls are known, one of them wrong on purpose: what the table `contradictions` says of it.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "query/causes/derived_causes.h"
#include "query/clock/derived_clock_map.h"
#include "query/flows/derived_flows.h"
#include "simulated_cluster.h"
#include "simulated_trace.h"
#include "store/store_fixture.h"

namespace dyetrace::simulation {
namespace {

constexpr std::int64_t kEarliest = 200'000'000'000'000'000;  // ns: CLOCK_BOOTTIME is never negative
// What of a host sends, what takes: their acts are not ordered by a thread.
constexpr std::uint32_t kSends = 1, kTakes = 2;
constexpr std::uint32_t kStream = 1, kDatagrams = 2;  // handles

class Contradictions : public testing::Test {
  protected:
    Contradictions()
        : cluster_({.seed = 5, .hosts = 2, .duration_ns = 4 * kSecond, .loss = 0}),
          trace_(temporary_.path() + "/trace") {
        for (std::uint32_t host = 0; host < 2; ++host) {
            HostPart& part = trace_.add_host(host, cluster_.wall_offset(host) - kEarliest);
            part.thread(kSends);
            part.thread(kTakes);
            part.socket(kStream, {.connection = 77});
            part.socket(kDatagrams,
                        host == 0 ? SimulatedSocket{.local_port = 5000, .remote_port = 53}
                                  : SimulatedSocket{.local_port = 53, .remote_port = 5000});
        }
    }

    void call_at(std::uint32_t host, std::int64_t true_ns, SimulatedCall call) {
        call.at = cluster_.clock(host, true_ns) + kEarliest;
        calls_.push_back({host, call});
    }

    // What went over TCP, as it was; `spoil` may change the calls of message `number`.
    template <typename Spoil>
    void add_messages(Spoil&& spoil) {
        std::int64_t last_sent[2] = {};
        std::uint64_t offset[2] = {};
        std::size_t number = 0;
        for (std::size_t i = 0; i < cluster_.messages().size(); ++i) {
            const analysis::ClockMessage& message = cluster_.messages()[i];
            const std::uint32_t from = message.sent.clock().host;
            if (cluster_.sent_at()[i] < last_sent[from]) {
                continue;  // a stream is in order
            }
            last_sent[from] = cluster_.sent_at()[i];
            SimulatedCall sent{.number = kSendto,
                               .at = message.sent.ns() + kEarliest,
                               .handle = kStream,
                               .stream_offset = offset[from],
                               .context = kSends};
            SimulatedCall taken{.number = kRecvfrom,
                                .at = message.received.ns() + kEarliest,
                                .handle = kStream,
                                .stream_offset = offset[from],
                                .context = kTakes};
            offset[from] += kBytes;
            spoil(number++, sent, taken);
            calls_.push_back({from, sent});
            calls_.push_back({1 - from, taken});
        }
    }
    void add_messages() {
        add_messages([](std::size_t, const SimulatedCall&, const SimulatedCall&) {});
    }

    // Writes the calls in the order of their hosts' clocks.
    std::unique_ptr<store::Database> database() {
        std::stable_sort(calls_.begin(), calls_.end(), [](const Call& a, const Call& b) {
            return a.call.at < b.call.at;
        });
        for (const Call& each : calls_) {
            trace_[each.host].call(each.call);
        }
        trace_.finish();
        auto database =
            store::Database::open(temporary_.path() + "/trace", {.threads = 2, .memory_limit = ""})
                .value();
        query::offer_flows(*database);
        query::use_clock(*database, "cluster");
        query::offer_causes(*database);
        return database;
    }

    SimulatedCluster cluster_;

  private:
    struct Call {
        std::uint32_t host;
        SimulatedCall call;
    };
    base::TemporaryFolder temporary_ = base::TemporaryFolder::make().value();
    SimulatedTrace trace_;
    std::vector<Call> calls_;
};

TEST_F(Contradictions, there_are_none_where_all_is_right) {
    add_messages();
    for (int i = 0; i < 5; ++i) {
        call_at(0, kSecond + i, {.number = kSendto, .handle = kDatagrams, .context = kSends});
        call_at(1, 2 * kSecond + i, {.number = kRecvfrom, .handle = kDatagrams, .context = kTakes});
    }
    const auto trace = database();
    EXPECT_EQ(ask(*trace, "FROM contradictions"), "");
    EXPECT_EQ(
        ask(*trace, "SELECT rule, count(*) > 100, count(*) = 5 FROM edges GROUP BY 1 ORDER BY 1"),
        "datagram false true\ntcp true false\n");
}

// The row, whether the edge is in the order, and about by how much it is late.
constexpr const char* kLate =
    "SELECT kind, likely_cause, c.rule, len(events), e.rule, (epoch_ns(from_earliest) - "
    "epoch_ns(to_latest)) BETWEEN 900000000 AND 1000000000, from_latest > from_earliest AND "
    "to_latest > to_earliest FROM contradictions c LEFT JOIN edges e USING (from_event, to_event)";

// What is sent after it was received comes back in time: the two hosts' own clocks cannot be in one order with this edge.
TEST_F(Contradictions, a_time_that_the_messages_do_not_allow_is_told_and_leads_around) {
    add_messages([](std::size_t number, SimulatedCall& sent, const SimulatedCall&) {
        sent.at += number == 500 ? kSecond : 0;
    });
    EXPECT_EQ(ask(*database(), kLate), "clock clock tcp 2 NULL true true\n");
}

TEST_F(Contradictions, bytes_are_believed_where_only_a_clock_speaks_against_them) {
    const std::int64_t last = cluster_.messages().back().received.ns() + kEarliest;
    add_messages([&](std::size_t, SimulatedCall& sent, const SimulatedCall& taken) {
        sent.at += taken.at == last ? kSecond : 0;
    });
    EXPECT_EQ(ask(*database(), kLate), "clock clock NULL 2 tcp true true\n");
}

// The first of three datagrams is not in the trace: the second is taken for it, and would be received a second before it was sent.
TEST_F(Contradictions, datagrams_that_were_taken_for_others_are_told_and_order_nothing) {
    add_messages();
    for (const std::int64_t second : {2, 3}) {
        call_at(0, second * kSecond, {.number = kSendto, .handle = kDatagrams, .context = kSends});
    }
    for (const std::int64_t second : {1, 2, 3}) {
        call_at(1,
                second * kSecond + kSecond / 10,
                {.number = kRecvfrom, .handle = kDatagrams, .context = kTakes});
    }
    const auto trace = database();
    EXPECT_EQ(ask(*trace,
                  "SELECT kind, likely_cause, rule, count(*), bool_and(from_earliest > to_latest) "
                  "FROM contradictions GROUP BY ALL"),
              "clock loss datagram 2 true\n");
    EXPECT_EQ(ask(*trace, "SELECT count(*) FROM edges WHERE rule = 'datagram'"), "0\n");
}

TEST_F(Contradictions, a_send_is_missing_only_while_its_end_was_watched) {
    const auto send = [&](std::int64_t at, std::uint64_t offset) {
        call_at(0, at, {.handle = kStream, .stream_offset = offset, .context = kSends});
    };
    for (std::uint64_t i = 0; i < 10; ++i) {
        if (i >= 3 && i != 5 && i < 8) {
            send(kSecond + static_cast<std::int64_t>(i), i * kBytes);
        }
        call_at(1,
                2 * kSecond + static_cast<std::int64_t>(i),
                {.number = kRecvfrom,
                 .handle = kStream,
                 .stream_offset = i * kBytes,
                 .context = kTakes});
    }
    EXPECT_EQ(
        ask(*database(),
            "SELECT c.kind, likely_cause, rule, stream_offset FROM contradictions c JOIN events "
            "ON event_id = to_event"),
        "missing_send truncated_capture NULL 500\n")
        << "0 to 300 and 800 to 1000 went before and after what was watched";
}

TEST_F(Contradictions,
       connect_and_close_say_that_an_end_was_watched_from_the_first_byte_to_the_last) {
    call_at(0, kSecond, {.number = kConnect, .handle = kStream, .context = kSends});
    call_at(0, 2 * kSecond, {.number = kClose, .handle = kStream, .context = kSends});
    call_at(1,
            3 * kSecond,
            {.number = kRecvfrom, .handle = kStream, .stream_offset = 0, .context = kTakes});
    EXPECT_EQ(ask(*database(), "SELECT kind, likely_cause, rule FROM contradictions"),
              "missing_send truncated_capture NULL\n");
}

TEST_F(Contradictions, nothing_is_missing_from_an_end_that_was_not_watched) {
    call_at(1,
            3 * kSecond,
            {.number = kRecvfrom, .handle = kStream, .stream_offset = 0, .context = kTakes});
    EXPECT_EQ(ask(*database(), "SELECT count(*) FROM contradictions"), "0\n");
}

}  // namespace
}  // namespace dyetrace::simulation
