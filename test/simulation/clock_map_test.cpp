// A simulated cluster as a trace of many hosts: its messages are calls on TCP connections, and the answers come in SQL.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "base/temporary_folder.h"
#include "query/asked_rows.h"
#include "query/clock/derived_clock_map.h"
#include "simulated_cluster.h"
#include "simulated_trace.h"
#include "store/store_fixture.h"

namespace dyetrace::simulation {
namespace {

constexpr std::int64_t kEarliest = 200'000'000'000'000'000;  // ns: CLOCK_BOOTTIME is never negative

class ClockMapTest : public testing::Test {
  protected:
    // How messages go: what tells one from another.
    enum class Road { kTcp, kDatagrams, kDatagramsUnseen };

    // `silent` hosts more, which make one call each.
    void record(const SimulatedCluster& cluster, std::uint32_t silent = 0, Road road = Road::kTcp) {
        SimulatedTrace trace(path());
        const std::uint32_t hosts = cluster.options().hosts;
        for (std::uint32_t host = 0; host < hosts + silent; ++host) {
            const std::int64_t wall = host < hosts ? cluster.wall_offset(host) : 1'000'000'000;
            trace.add_host(host, wall - kEarliest);
        }
        for (std::uint32_t host = hosts; host < hosts + silent; ++host) {
            trace[host].call({.at = kEarliest + 5, .handle = 1, .stream_offset = 0});
        }
        for (std::uint32_t link = 0; link < cluster.options().links.size(); ++link) {
            const auto& [a, b] = cluster.options().links[link];
            const bool is_tcp = road == Road::kTcp;
            const std::uint64_t connection = is_tcp ? link + 77 : 0;
            trace[a].socket(link + 1,
                            {.connection = connection, .local_port = 40, .remote_port = 53});
            trace[b].socket(link + 1,
                            {.connection = connection, .local_port = 53, .remote_port = 40});
            handle_of_[{a, b}] = handle_of_[{b, a}] = link + 1;
        }
        road == Road::kTcp ? add_messages(cluster, trace)
                           : add_datagrams(cluster, trace, road == Road::kDatagrams);
        trace.finish();
    }

    std::unique_ptr<store::Database> open(const char* clock) const {
        auto database = store::Database::open(path(), {.threads = 2, .memory_limit = ""}).value();
        query::use_clock(*database, clock);
        return database;
    }
    std::string path() const { return temporary_.path() + "/trace"; }

    // Checks all that was sent in a chain, whose second host is the reference: it has two
    // neighbours.
    void expect_truth(const SimulatedCluster& cluster, store::Database& database) const {
        std::uint64_t outside = 0, asked = 0;
        const auto done = query::each_row(
            database,
            "SELECT right(host, 1)::INTEGER, start_ns, epoch_ns(time), time_uncertainty_ns FROM "
            "events "
            "WHERE name = 'sendto' AND time_uncertainty_ns IS NOT NULL",
            [&](query::Row row) {
                const auto number = [&](std::size_t i) {
                    return std::stoll(std::string(row[i].text));
                };
                const std::int64_t t =
                    true_times_.at({static_cast<std::uint32_t>(number(0)), number(1)});
                const std::int64_t truth = cluster.clock(1, t) + cluster.wall_offset(1);
                outside += std::abs(number(2) - truth) > number(3);
                ++asked;
            });
        EXPECT_TRUE(done.ok()) << done.error().text();
        EXPECT_EQ(asked, true_times_.size());
        EXPECT_EQ(outside, 0U);
    }

    std::map<std::pair<std::uint32_t, std::int64_t>, std::int64_t>
        true_times_;  // by host and its clock

  private:
    // A stream is in order: what would be received before something that was sent earlier is left out.
    void add_messages(const SimulatedCluster& cluster, SimulatedTrace& trace) {
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::int64_t, std::uint64_t>>
            ways;
        for (std::size_t i = 0; i < cluster.messages().size(); ++i) {
            const analysis::ClockMessage& message = cluster.messages()[i];
            const std::uint32_t from = message.sent.clock().host,
                                to = message.received.clock().host;
            auto& [last_sent, offset] = ways[{from, to}];
            if (cluster.sent_at()[i] < last_sent) {
                continue;
            }
            last_sent = cluster.sent_at()[i];
            trace[from].call({.number = kSendto,
                              .at = message.sent.ns() + kEarliest,
                              .handle = handle_of_[{from, to}],
                              .stream_offset = offset});
            trace[to].call({.number = kRecvfrom,
                            .at = message.received.ns() + kEarliest,
                            .handle = handle_of_[{from, to}],
                            .stream_offset = offset});
            true_times_[{from, message.sent.ns() + kEarliest}] = cluster.sent_at()[i];
            offset += kBytes;
        }
    }

    // Every third is followed by the same bytes again, which tell nothing.
    void add_datagrams(const SimulatedCluster& cluster, SimulatedTrace& trace, bool seen) {
        for (std::size_t i = 0; i < cluster.messages().size(); ++i) {
            const analysis::ClockMessage& message = cluster.messages()[i];
            const std::uint32_t from = message.sent.clock().host,
                                to = message.received.clock().host;
            const std::uint32_t handle = handle_of_[{from, to}];
            const std::uint64_t bytes = i % 3 == 0 ? 0 : i;
            const auto fingerprint = seen ? std::optional(bytes) : std::nullopt;
            trace[from].call({.number = kSendto,
                              .at = message.sent.ns() + kEarliest,
                              .handle = handle,
                              .fingerprint = fingerprint});
            trace[to].call({.number = kRecvfrom,
                            .at = message.received.ns() + kEarliest,
                            .handle = handle,
                            .fingerprint = fingerprint});
            true_times_[{from, message.sent.ns() + kEarliest}] = cluster.sent_at()[i];
        }
    }

    base::TemporaryFolder temporary_ = base::TemporaryFolder::make().value();
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> handle_of_;
};

constexpr const char* kInversions =
    "SELECT count(*) > 500, count(*) FILTER (s.time > r.time) FROM events s JOIN events r ON "
    "s.connection_id = r.connection_id AND "
    "s.stream_offset = r.stream_offset AND s.host <> r.host WHERE s.name = 'sendto' AND r.name = "
    "'recvfrom'";

TEST_F(ClockMapTest, puts_events_of_several_hosts_on_one_clock) {
    const SimulatedCluster cluster(
        {.seed = 4, .hosts = 4, .links = chain(4), .duration_ns = 3'000'000'000});
    record(cluster);
    const auto database = open("cluster");
    EXPECT_EQ(ask(*database, kInversions), "true 0\n");
    expect_truth(cluster, *database);
    EXPECT_EQ(store::ask(*database,
                         "SELECT count(DISTINCT host), max(abs(rate)) < 500e-6, bool_and(to_ns > "
                         "from_ns), count(earlier_ns) = count(*) FROM clock_map"),
              "4 true true true\n");
}

TEST_F(ClockMapTest, takes_datagrams_for_messages_where_their_bytes_tell_them_apart) {
    const SimulatedCluster cluster(
        {.seed = 4, .hosts = 4, .links = chain(4), .duration_ns = 3'000'000'000});
    record(cluster, 0, Road::kDatagrams);
    expect_truth(cluster, *open("cluster"));
}

TEST_F(ClockMapTest, has_no_bounds_from_datagrams_whose_bytes_nobody_saw) {
    record(SimulatedCluster({.seed = 1, .duration_ns = 2'000'000'000}), 0, Road::kDatagramsUnseen);
    EXPECT_EQ(
        ask(*open("cluster"), "SELECT count(*) > 100, count(time_uncertainty_ns) FROM events"),
        "true 0\n");
}

TEST_F(ClockMapTest, is_not_misled_by_wall_clocks_that_are_off_by_days) {
    SimulationOptions options{
        .seed = 2,
        .hosts = 2,
        .duration_ns = 3'000'000'000,
        .wall_off_max_s = 3e5,
        .steps = {{.host = 1, .at_ns = 2'000'000'000, .asleep_ns = 500'000'000}}};
    record(SimulatedCluster(options));
    EXPECT_EQ(ask(*open("cluster"), kInversions), "true 0\n");
}

TEST_F(ClockMapTest, leaves_the_wall_clock_to_hosts_that_are_silent) {
    record(SimulatedCluster({.seed = 1, .duration_ns = 2'000'000'000}), 1);
    const auto database = open("cluster");
    EXPECT_EQ(ask(*database,
                  "SELECT epoch_ns(time), time_uncertainty_ns FROM events WHERE host = 'host2'"),
              "1000000005 NULL\n");
    EXPECT_EQ(ask(*database, "SELECT count(*) FROM clock_map WHERE host = 'host2'"), "0\n");
}

TEST_F(ClockMapTest, gives_other_clocks_when_asked) {
    const SimulatedCluster cluster({.seed = 1, .duration_ns = 2'000'000'000});
    record(cluster);
    constexpr const char* kTimes =
        "SELECT count(*) FILTER (epoch_ns(time) = start_ns), count(time_uncertainty_ns) FROM "
        "events";
    EXPECT_EQ(ask(*open("raw"), kTimes), std::to_string(2 * true_times_.size()) + " 0\n");
    const auto wall = open("wall");
    EXPECT_EQ(ask(*wall,
                  "SELECT count(DISTINCT epoch_ns(time) - start_ns::BIGINT), "
                  "count(time_uncertainty_ns) FROM events"),
              "2 0\n");
    EXPECT_FALSE(ask(*wall, kInversions).ends_with(" 0\n")) << "else the other tests show nothing";
    EXPECT_EQ(ask(*wall, "SELECT count(*) > 0 FROM clock_map"), "true\n");
}

// Nothing is computed for one host.
TEST(OneHost, keeps_its_wall_clock) {
    store::StoreFixture trace;
    trace.record(1, 100);
    const auto database = trace.database();
    query::use_clock(*database, "cluster");
    EXPECT_EQ(store::ask(*database,
                         "SELECT count(*), count(time_uncertainty_ns), count(*) FILTER "
                         "(epoch_ns(time) <> start_ns) FROM events"),
              "100 0 0\n");
    EXPECT_EQ(store::ask(*database,
                         "SELECT count(*) FROM duckdb_views() WHERE view_name = 'clock_pieces'"),
              "0\n");
    EXPECT_EQ(store::ask(*database, "SELECT count(*) FROM clock_map"), "0\n");
}

}  // namespace
}  // namespace dyetrace::simulation
