// What was lost on several hosts, in an export: at the same time as what was not lost there, by every clock.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/temporary_folder.h"
#include "query/asked_rows.h"
#include "query/clock/derived_clock_map.h"
#include "reports/export/export_scene.h"
#include "simulated_cluster.h"
#include "simulated_trace.h"
#include "store/store_fixture.h"

namespace dyetrace::simulation {
namespace {

constexpr std::int64_t kEarliest = 200'000'000'000'000'000;  // ns: CLOCK_BOOTTIME is never negative
constexpr std::uint64_t kEach = 7;                           // message is the begin of a gap, too
constexpr std::int64_t kGapNs = 1234;
constexpr std::uint32_t kSilent = 3;  // exchanges no message: there is no cluster time for it

using Seen = std::tuple<std::uint32_t, std::int64_t, std::uint64_t>;  // host, moment, lost

void record(const std::string& path, const SimulatedCluster& cluster) {
    SimulatedTrace trace(path);
    for (std::uint32_t host = 0; host < kSilent; ++host) {
        trace.add_host(host, cluster.wall_offset(host) - kEarliest);
    }
    trace.add_host(kSilent, 1'000'000'000);
    const auto& links = cluster.options().links;
    for (std::uint32_t link = 0; link < links.size(); ++link) {
        const auto& [a, b] = links[link];
        trace[a].socket(link + 1, {.connection = link + 77, .local_port = 40, .remote_port = 53});
        trace[b].socket(link + 1, {.connection = link + 77, .local_port = 53, .remote_port = 40});
    }
    std::uint64_t offsets[2][2] = {};
    for (std::size_t i = 0; i < cluster.messages().size(); ++i) {
        const analysis::ClockMessage& message = cluster.messages()[i];
        const std::uint32_t from = message.sent.clock().host, to = message.received.clock().host;
        const std::uint32_t link = std::min(from, to);
        std::uint64_t& offset = offsets[link][from < to];
        const std::int64_t sent = message.sent.ns() + kEarliest;
        trace[from].call({.at = sent, .handle = link + 1, .stream_offset = offset});
        trace[to].call({.number = kRecvfrom,
                        .at = message.received.ns() + kEarliest,
                        .handle = link + 1,
                        .stream_offset = offset});
        offset += kBytes;
        if (i % kEach == 0) {
            trace[from].gap(sent, sent + kGapNs, i + 1);
        }
    }
    trace[kSilent].call({.at = kEarliest + 5, .handle = 1, .stream_offset = 0});
    trace[kSilent].gap(kEarliest + 5, kEarliest + 5 + kGapNs, 1);
    trace.finish();
}

// Gives the calls that began when a gap did.
std::set<Seen> seen_calls(store::Database& database) {
    std::set<Seen> seen;
    const auto done = query::each_row(
        database,
        "SELECT h.host_index, epoch_ns(e.time), g.lost FROM gaps g JOIN events e ON e.host = "
        "g.host AND e.start_ns = g.begin_ns JOIN hosts h ON h.host = g.host",
        [&](query::Row row) {
            const auto number = [&](std::size_t i) { return std::stoll(std::string(row[i].text)); };
            seen.emplace(number(0), number(1), number(2));
        });
    EXPECT_TRUE(done.ok()) << done.error().text();
    return seen;
}

class ExportGapsTest : public testing::TestWithParam<const char*> {};

TEST_P(ExportGapsTest, begin_when_the_calls_beside_them_do) {
    const base::TemporaryFolder temporary = base::TemporaryFolder::make().value();
    const std::string path = temporary.path() + "/trace";
    record(path,
           SimulatedCluster({.seed = 5,
                             .hosts = kSilent,
                             .links = {{0, 1}, {1, 2}},
                             .duration_ns = 3'000'000'000}));
    const auto database = store::Database::open(path, {.threads = 2, .memory_limit = ""}).value();
    query::use_clock(*database, GetParam());
    std::vector<Seen> gaps;
    reports::each_gap(*database, GetParam(), [&](const exporter::LostEvents& lost) -> Result<void> {
        EXPECT_EQ(lost.duration_ns, static_cast<std::uint64_t>(kGapNs));
        EXPECT_EQ(lost.reason, "ring_full");
        EXPECT_EQ(lost.cpu, std::nullopt);
        gaps.emplace_back(lost.host_index, lost.begin_ns, lost.lost.value_or(0));
        return {};
    }).value();
    EXPECT_GT(gaps.size(), 200u);
    EXPECT_TRUE(std::ranges::is_sorted(gaps, {}, [](const Seen& gap) { return std::get<1>(gap); }));
    EXPECT_EQ(std::set(gaps.begin(), gaps.end()), seen_calls(*database));
}

INSTANTIATE_TEST_SUITE_P(EveryClock,
                         ExportGapsTest,
                         testing::Values("raw", "wall", "cluster"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace dyetrace::simulation
