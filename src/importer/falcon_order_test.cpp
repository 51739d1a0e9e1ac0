#include "importer/falcon_order.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "base/check.h"

namespace dyetrace::importer {
namespace {

using enum FalconType;

FalconEvent event(FalconType type, const std::string& thread, std::uint64_t time_ns) {
    FalconEvent made;
    made.type = type;
    made.thread = thread;
    made.host = host_after_at(thread);
    made.host_number = static_cast<std::uint32_t>(made.host.back() - '0');
    made.time_ns = made.timestamp = time_ns;
    return made;
}

FalconEvent message(FalconType type,
                    const std::string& thread,
                    std::uint64_t time_ns,
                    std::int64_t size) {
    FalconEvent made = event(type, thread, time_ns);
    made.socket = "10.0.0.1:1-10.0.0.2:2";
    made.source = {"10.0.0.1", 1};
    made.destination = {"10.0.0.2", 2};
    made.size = size;
    return made;
}

FalconEvent about(FalconType type,
                  const std::string& thread,
                  std::uint64_t time_ns,
                  const std::string& variable) {
    FalconEvent made = event(type, thread, time_ns);
    made.variable = made.child = variable;
    return made;
}

// What came out, as it came: "SND T1@h1 5", and the numbers of what each was put after.
struct Passed {
    std::vector<FalconPassed> events;
    std::vector<std::string> lines() const {
        std::vector<std::string> lines;
        for (const FalconPassed& passed : events) {
            std::string line =
                fmt::format("{} {}", name_of(passed.event.type), passed.event.thread);
            for (const FalconPlace& giver : passed.after) {
                line += fmt::format(" <{}", giver.event);
            }
            lines.push_back(line + (passed.is_forced ? " forced" : ""));
        }
        return lines;
    }
};

Passed ordered(const std::vector<FalconEvent>& events) {
    Passed passed;
    FalconOrder order([&](const FalconPassed& one) {
        passed.events.push_back(one);
        return FalconPlace{one.event.host_number, passed.events.size() - 1, one.time_ns};
    });
    for (const FalconEvent& each : events) {
        order.add(each);
    }
    while (order.held() > 0) {
        order.pass_one().value();
    }
    return passed;
}

using Lines = std::vector<std::string>;

TEST(FalconOrder, keeps_a_threads_events_in_the_order_of_their_times) {
    const Passed passed = ordered({about(kLock, "T1@h1", 9, "a"),
                                   event(kStart, "T1@h1", 2),
                                   about(kUnlock, "T1@h1", 11, "a")});
    EXPECT_EQ(passed.lines(), (Lines{"START T1@h1", "LOCK T1@h1", "UNLOCK T1@h1"}));
}

TEST(FalconOrder, puts_a_receive_after_all_sends_of_its_bytes_whatever_the_clocks_say) {
    const Passed passed = ordered({message(kReceive, "T1@h2", 10, 8),
                                   message(kReceive, "T1@h2", 11, 4),
                                   message(kSend, "T1@h1", 1000, 6),
                                   message(kSend, "T1@h1", 1001, 6)});
    EXPECT_EQ(passed.lines(), (Lines{"SND T1@h1", "SND T1@h1", "RCV T1@h2", "RCV T1@h2"}));
    EXPECT_EQ(passed.events[1].stream_offset, 6u);
    EXPECT_EQ(passed.events[3].stream_offset, 8u);
    EXPECT_EQ(passed.events[2].time_ns, 10u);  // another host's clock is not ours to set
}

TEST(FalconOrder, moves_a_receive_on_the_senders_host_after_its_send) {
    const Passed passed = ordered({message(kReceive, "T2@h1", 10, 8),
                                   event(kLog, "T2@h1", 11),
                                   message(kSend, "T1@h1", 1000, 8)});
    EXPECT_EQ(passed.events[1].time_ns, 1000 + kStepNs);
    EXPECT_EQ(passed.events[2].time_ns, 1000 + 2 * kStepNs);
}

TEST(FalconOrder, does_not_wait_for_bytes_that_nobody_sends) {
    const Passed passed = ordered({message(kReceive, "T1@h2", 10, 8)});
    EXPECT_EQ(passed.lines(), (Lines{"RCV T1@h2"}));
}

TEST(FalconOrder, puts_a_start_after_its_create_and_a_join_after_the_last_event) {
    const Passed passed = ordered({event(kStart, "T2@h1", 1),
                                   event(kLog, "T2@h1", 50),
                                   about(kCreate, "T1@h1", 5, "T2@h1"),
                                   about(kJoin, "T1@h1", 6, "T2@h1")});
    EXPECT_EQ(passed.lines(),
              (Lines{"CREATE T1@h1", "START T2@h1 <0", "LOG T2@h1", "JOIN T1@h1 <2"}));
}

TEST(FalconOrder, pairs_threads_whose_name_came_again) {
    const Passed passed = ordered({about(kCreate, "T1@h1", 1, "T2@h1"),
                                   event(kStart, "T2@h1", 2),
                                   event(kEnd, "T2@h1", 3),
                                   about(kJoin, "T1@h1", 4, "T2@h1"),
                                   about(kCreate, "T1@h1", 5, "T2@h1"),
                                   event(kStart, "T2@h1", 6),
                                   event(kEnd, "T2@h1", 7),
                                   about(kJoin, "T1@h1", 8, "T2@h1")});
    EXPECT_EQ(passed.lines(),
              (Lines{"CREATE T1@h1",
                     "START T2@h1 <0",
                     "END T2@h1",
                     "JOIN T1@h1 <2",
                     "CREATE T1@h1",
                     "START T2@h1 <4",
                     "END T2@h1",
                     "JOIN T1@h1 <6"}));
}

TEST(FalconOrder, puts_an_accept_after_its_connect_and_a_shutdown_after_the_close) {
    FalconEvent connect = message(kConnect, "T1@h1", 100, 0),
                accept = message(kAccept, "T1@h2", 1, 0);
    FalconEvent close = message(kClose, "T1@h1", 101, 0),
                shutdown = message(kShutdown, "T1@h2", 2, 0);
    const Passed passed = ordered({accept, shutdown, connect, close});
    EXPECT_EQ(passed.lines(),
              (Lines{"CONNECT T1@h1", "ACCEPT T1@h2 <0", "CLOSE T1@h1", "SHUTDOWN T1@h2 <2"}));
}

TEST(FalconOrder, lets_one_critical_section_end_before_another_one_begins) {
    const Passed passed = ordered({about(kLock, "T1@h1", 1, "a"),
                                   about(kLock, "T2@h1", 2, "a"),
                                   about(kLock, "T1@h1", 3, "a"),
                                   about(kUnlock, "T1@h1", 4, "a"),
                                   about(kUnlock, "T1@h1", 5, "a"),
                                   about(kUnlock, "T2@h1", 6, "a")});
    EXPECT_EQ(passed.lines(),
              (Lines{"LOCK T1@h1",
                     "LOCK T1@h1",
                     "UNLOCK T1@h1",
                     "UNLOCK T1@h1",
                     "LOCK T2@h1 <3",
                     "UNLOCK T2@h1"}));
}

TEST(FalconOrder, gives_a_notify_to_one_wait_and_a_notify_to_all_to_each) {
    EXPECT_EQ(ordered({about(kWait, "T1@h1", 1, "c"),
                       about(kWait, "T2@h1", 2, "c"),
                       about(kNotify, "T3@h1", 3, "c"),
                       about(kNotify, "T3@h1", 4, "c")})
                  .lines(),
              (Lines{"NOTIFY T3@h1", "WAIT T1@h1 <0", "NOTIFY T3@h1", "WAIT T2@h1 <2"}));
    EXPECT_EQ(ordered({about(kWait, "T1@h1", 1, "c"),
                       about(kWait, "T2@h1", 2, "c"),
                       about(kNotifyAll, "T3@h1", 3, "c")})
                  .lines(),
              (Lines{"NOTIFYALL T3@h1", "WAIT T1@h1 <0", "WAIT T2@h1 <0"}));
}

TEST(FalconOrder, joins_datagrams_by_the_messages_id) {
    FalconEvent send = message(kSend, "T1@h1", 100, 8), receive = message(kReceive, "T1@h2", 1, 8);
    send.is_udp = receive.is_udp = true;
    send.text = receive.text = "17";
    EXPECT_EQ(ordered({receive, send}).lines(), (Lines{"SND T1@h1", "RCV T1@h2 <0"}));
}

TEST(FalconOrder, goes_on_where_the_log_contradicts_itself) {
    // Each joins the other one first.
    const Passed passed = ordered({about(kJoin, "T1@h1", 1, "T2@h1"),
                                   event(kEnd, "T1@h1", 2),
                                   about(kJoin, "T2@h1", 3, "T1@h1"),
                                   event(kEnd, "T2@h1", 4)});
    EXPECT_EQ(passed.lines(),
              (Lines{"JOIN T1@h1 forced", "END T1@h1", "JOIN T2@h1 <1", "END T2@h1"}));
}

// A world that really ran: what each rule says of it is true of the order in which it ran. Then each host's clock is set wrong.
class World {
  public:
    explicit World(std::uint64_t seed) : random_(seed) {
        for (int i = 0; i < 4; ++i) {
            offsets_.push_back(random_() % 1'000'000);
        }
        for (int i = 0; i < 6; ++i) {
            threads_.push_back(fmt::format("T{}@h{}", i, i % 3));
        }
        for (int i = 0; i < 120; ++i) {
            step();
        }
        for (const auto& [variable, holder] : held_) {
            add(about(kUnlock, threads_[holder], 0, variable));
        }
        std::shuffle(events.begin(), events.end(), random_);
    }

    std::vector<FalconEvent> events;

  private:
    void add(FalconEvent made) {
        made.time_ns = made.timestamp = offsets_[made.host_number] + 10 * ++now_;
        made.line = now_;
        events.push_back(std::move(made));
    }
    void step() {
        const std::size_t thread = random_() % threads_.size();
        const std::string& name = threads_[thread];
        switch (random_() % 5) {
            case 0: {
                const std::size_t other = random_() % threads_.size();
                FalconEvent send =
                    message(kSend, name, 0, static_cast<std::int64_t>(1 + random_() % 9));
                send.source = {"10.0.0.1", static_cast<std::uint16_t>(thread + 1)};
                send.destination = {"10.0.0.2", static_cast<std::uint16_t>(other + 1)};
                pending_[{thread, other}] += *send.size;
                add(send);
                break;
            }
            case 1:
                receive(thread);
                break;
            case 2:
                lock(thread);
                break;
            case 3:
                add(about(kNotify, name, 0, name.substr(3)));
                ++notified_[name.substr(3)];
                break;
            default:
                if (int& notified = notified_[name.substr(3)]; notified > 0) {
                    --notified;
                    add(about(kWait, name, 0, name.substr(3)));
                }
        }
    }
    void receive(std::size_t thread) {
        for (auto& [ends, bytes] : pending_) {
            if (ends.second == thread && bytes > 0) {
                const auto size =
                    static_cast<std::int64_t>(1 + random_() % static_cast<std::uint64_t>(bytes));
                FalconEvent taken = message(kReceive, threads_[thread], 0, size);
                taken.source = {"10.0.0.1", static_cast<std::uint16_t>(ends.first + 1)};
                taken.destination = {"10.0.0.2", static_cast<std::uint16_t>(thread + 1)};
                bytes -= size;
                add(taken);
                return;
            }
        }
    }
    // A lock is of one host.
    void lock(std::size_t thread) {
        const std::string variable = fmt::format("lock {}", thread % 3);
        const auto held = held_.find(variable);
        if (held == held_.end()) {
            held_[variable] = thread;
            add(about(kLock, threads_[thread], 0, variable));
        } else if (held->second == thread) {
            held_.erase(held);
            add(about(kUnlock, threads_[thread], 0, variable));
        }
    }

    std::mt19937_64 random_;
    std::vector<std::uint64_t> offsets_;
    std::vector<std::string> threads_;
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> pending_;
    std::map<std::string, std::size_t> held_;
    std::map<std::string, int> notified_;  // a condition of each host
    std::uint64_t now_ = 0;
};

// Each rule by itself, on the order that came out.
void expect_rules(const Passed& passed, std::uint64_t seed) {
    std::map<std::string, std::uint64_t> last_of_thread;
    std::map<std::pair<std::uint16_t, std::uint16_t>, std::int64_t> in_flight;
    std::map<std::string, std::string> holders;
    std::map<std::string, int> notified;
    for (const FalconPassed& one : passed.events) {
        const FalconEvent& e = one.event;
        EXPECT_FALSE(one.is_forced) << seed;
        EXPECT_GT(e.line, last_of_thread[e.thread]) << seed;  // as it ran
        last_of_thread[e.thread] = e.line;
        if (e.type == kSend) {
            in_flight[{e.source.port, e.destination.port}] += *e.size;
        } else if (e.type == kReceive) {
            std::int64_t& bytes = in_flight[{e.source.port, e.destination.port}];
            bytes -= *e.size;
            EXPECT_GE(bytes, 0) << seed;
        } else if (e.type == kLock) {
            EXPECT_TRUE(holders[e.variable].empty()) << seed;
            holders[e.variable] = e.thread;
        } else if (e.type == kUnlock) {
            EXPECT_EQ(holders[e.variable], e.thread) << seed;
            holders[e.variable].clear();
        } else if (e.type == kNotify) {
            ++notified[e.variable];
        } else if (e.type == kWait) {
            EXPECT_GE(--notified[e.variable], 0) << seed;
            EXPECT_EQ(one.after.size(), 1u) << seed;
        }
    }
}

TEST(FalconOrder, keeps_every_rule_in_a_thousand_worlds_whose_clocks_are_wrong) {
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        const World world(seed);
        const Passed passed = ordered(world.events);
        ASSERT_EQ(passed.events.size(), world.events.size());
        expect_rules(passed, seed);
        if (HasFailure()) {
            break;
        }
    }
}

}  // namespace
}  // namespace dyetrace::importer
