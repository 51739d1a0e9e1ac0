#include "query/clock/derived_clock_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/clock/cluster_clock.h"
#include "base/log.h"
#include "query/asked_rows.h"
#include "query/flows/flow_rows.h"
#include "query/named_sql.h"
#include "query/sql.h"
#include "query/twins/derived_twins.h"
#include "schema/derived_tables.h"

namespace dyetrace::query {
namespace {

using analysis::ClockHost;
using analysis::ClockMap;
using analysis::ClockPiece;
using analysis::ClockSolution;
using analysis::ClusterClock;
using base::HostClock;
using base::Instant;

// Raised whenever the same messages give another clock.
constexpr std::uint32_t kClockRulesVersion = 5;
// Wall clocks that are off by more bring the messages into an order in which steps cannot be told from delays: then it is done again.
constexpr std::int64_t kOrderOffMax = 1'000'000'000;  // ns

// Hosts that are one kernel have one clock: that of the first of them.
struct TracedHost {
    ClockHost host;
    std::uint32_t kernel = 0;  // its first host
};

Result<std::vector<TracedHost>> load_hosts(store::Database& database) {
    std::vector<TracedHost> hosts;
    TRY(each_number_row(
        database, filled(sql::kClockHosts), [&](const auto& columns, std::size_t row) {
            ClockHost host{.host = static_cast<std::uint32_t>(columns[0][row]),
                           .wall_offset_ns = columns[1].template get<std::int64_t>(row)};
            if (!columns[2].is_null(row)) {
                host.first_ns = static_cast<std::int64_t>(columns[2][row]);
                host.last_ns = static_cast<std::int64_t>(columns[3][row]);
            }
            hosts.push_back({host, static_cast<std::uint32_t>(columns[4][row])});
        }));
    return hosts;
}

std::vector<ClockHost> kernels_of(const std::vector<TracedHost>& hosts) {
    std::vector<ClockHost> kernels;
    for (const auto& [host, kernel] : hosts) {
        if (kernel == host.host) {
            kernels.push_back(host);
            continue;
        }
        ClockHost& first = *std::ranges::find(kernels, kernel, &ClockHost::host);
        if (host.first_ns <= host.last_ns) {
            const bool is_empty = first.first_ns > first.last_ns;
            first.first_ns = is_empty ? host.first_ns : std::min(first.first_ns, host.first_ns);
            first.last_ns = is_empty ? host.last_ns : std::max(first.last_ns, host.last_ns);
        }
    }
    return kernels;
}

Instant<HostClock> instant(std::uint64_t host, std::uint64_t ns) {
    return {HostClock{static_cast<std::uint32_t>(host)}, static_cast<std::int64_t>(ns)};
}

Result<ClockSolution> solve(store::Database& database,
                            const std::vector<ClockHost>& hosts,
                            std::span<const std::int64_t> shifts) {
    ClusterClock clock;
    for (const ClockHost& host : hosts) {
        clock.add_host(host);
    }
    TRY(each_number_row(database, messages_sql(shifts), [&](const auto& columns, std::size_t row) {
        clock.add({instant(columns[kMessageFrom][row], columns[kMessageSent][row]),
                   instant(columns[kMessageTo][row], columns[kMessageReceived][row])});
    }));
    return clock.solve();
}

// How far each host's wall clock is off, by its map; empty: none by so much that it matters.
std::vector<std::int64_t> shifts_of(const std::vector<ClockHost>& hosts,
                                    const ClockSolution& solution,
                                    std::size_t size) {
    std::vector<std::int64_t> shifts(size, 0);
    bool any = false;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        const ClockHost& host = hosts[i];
        if (host.first_ns <= host.last_ns) {
            const Instant<HostClock> first({host.host}, host.first_ns);
            shifts[host.host] =
                solution.maps[i].at(first).time.ns() - (host.first_ns + host.wall_offset_ns);
            any = any || std::abs(shifts[host.host]) > kOrderOffMax;
        }
    }
    return any ? shifts : std::vector<std::int64_t>();
}

void tell(const ClockSolution& solution) {
    if (solution.contradictions > 0) {
        base::Log::to_stderr().warn(
            fmt::format("clock_map: {} messages contradict the others and were left out",
                        solution.contradictions));
    }
    if (solution.inversions > 0) {
        base::Log::to_stderr().warn(fmt::format(
            "clock_map: {} messages are received before they are sent, around steps of a clock",
            solution.inversions));
    }
}

std::uint64_t whole(double ns) {
    return std::isfinite(ns) ? static_cast<std::uint64_t>(std::ceil(ns)) : schema::kDerivedNull;
}

void append(const ClockMap& map, const ClockHost& host, std::vector<std::uint64_t>& numbers) {
    for (const ClockPiece& piece : map.pieces(host.first_ns, host.last_ns)) {
        numbers.insert(numbers.end(),
                       {host.host,
                        static_cast<std::uint64_t>(piece.from_ns),
                        static_cast<std::uint64_t>(piece.to_ns),
                        static_cast<std::uint64_t>(piece.cluster_ns),
                        static_cast<std::uint64_t>(piece.cluster_to_ns),
                        whole(piece.below_ns),
                        whole(piece.above_ns),
                        whole(piece.below_to_ns),
                        whole(piece.above_to_ns)});
    }
}

// A kernel that exchanged no messages with others, and is several hosts, goes by the wall clock of the first of them.
void append_wall_clock(const ClockHost& host,
                       const ClockHost& kernel,
                       bool is_the_only_one,
                       std::vector<std::uint64_t>& numbers) {
    const std::int64_t end_ns = host.last_ns + 1;
    const std::uint64_t bound = is_the_only_one ? 0 : schema::kDerivedNull;
    numbers.insert(numbers.end(),
                   {host.host,
                    static_cast<std::uint64_t>(host.first_ns),
                    static_cast<std::uint64_t>(end_ns),
                    static_cast<std::uint64_t>(host.first_ns + kernel.wall_offset_ns),
                    static_cast<std::uint64_t>(end_ns + kernel.wall_offset_ns),
                    bound,
                    bound,
                    bound,
                    bound});
}

Result<std::vector<std::uint64_t>> clock_rows(store::Database& database) {
    std::vector<std::uint64_t> numbers;
    TRY(const std::vector<TracedHost> hosts, load_hosts(database));
    if (hosts.size() < 2) {
        return numbers;
    }
    TRY(make_twins(database));
    const std::vector<ClockHost> kernels = kernels_of(hosts);
    std::vector<std::int64_t> shifts(kernels.back().host + 1, 0);
    TRY(ClockSolution solution, solve(database, kernels, shifts));
    if (shifts = shifts_of(kernels, solution, shifts.size()); !shifts.empty()) {
        TRY(solution, solve(database, kernels, shifts));
    }
    tell(solution);
    for (const auto& [host, kernel] : hosts) {
        const auto at = std::ranges::find(kernels, kernel, &ClockHost::host) - kernels.begin();
        const auto index = static_cast<std::size_t>(at);
        if (host.first_ns > host.last_ns) {
            continue;
        }
        if (solution.maps[index].knots().size() > 1) {
            append(solution.maps[index], host, numbers);
        } else if (hosts.size() > kernels.size()) {
            append_wall_clock(host, kernels[index], kernels.size() == 1, numbers);
        }
    }
    return numbers;
}

}  // namespace

void offer_clock_map(store::Database& database) {
    offer_twins(database);
    database.register_table(
        {"clock_map", kClockRulesVersion, [](store::Database& asked) -> Result<store::RowSource> {
             TRY(std::vector<std::uint64_t> rows, clock_rows(asked));
             const auto left = std::make_shared<std::vector<std::uint64_t>>(std::move(rows));
             return store::RowSource([left](std::vector<std::uint64_t>& numbers) -> Result<void> {
                 numbers = std::exchange(*left, {});
                 return {};
             });
         }});
}

void use_clock(store::Database& database, std::string_view clock) {
    offer_clock_map(database);
    database.use_clock(clock == "raw"    ? store::EventClock::kRaw
                       : clock == "wall" ? store::EventClock::kWall
                                         : store::EventClock::kCluster);
}

}  // namespace dyetrace::query
