// What must hold of a solution, whatever the cluster: the truth is in every interval, and no message is received before it was sent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/clock/cluster_clock.h"
#include "simulated_cluster.h"

namespace dyetrace::simulation {

inline analysis::ClusterClock clock_of(const SimulatedCluster& cluster,
                                       analysis::ClockAssumptions assumptions = {}) {
    analysis::ClusterClock clock(assumptions);
    for (std::uint32_t host = 0; host < cluster.options().hosts; ++host) {
        clock.add_host({.host = host, .wall_offset_ns = cluster.wall_offset(host)});
    }
    return clock;
}

inline analysis::ClusterClock filled_clock(const SimulatedCluster& cluster,
                                           analysis::ClockAssumptions assumptions = {}) {
    analysis::ClusterClock clock = clock_of(cluster, assumptions);
    for (const analysis::ClockMessage& message : cluster.messages()) {
        clock.add(message);
    }
    return clock;
}

inline std::uint64_t inversions(const SimulatedCluster& cluster,
                                const analysis::ClockSolution& solution) {
    return static_cast<std::uint64_t>(std::count_if(
        cluster.messages().begin(),
        cluster.messages().end(),
        [&](const analysis::ClockMessage& message) {
            return solution.maps[message.sent.clock().host].at(message.sent).time >
                   solution.maps[message.received.clock().host].at(message.received).time;
        }));
}

struct Widths {
    std::uint64_t asked = 0, unbounded = 0, outside = 0;
    double median_ns = 0, greatest_ns = 0;
    std::int64_t worst_ns = 0;  // how far outside
};

// At `instants` true times of each host that is awake then.
inline Widths check_truth(const SimulatedCluster& cluster,
                          const analysis::ClockSolution& solution,
                          int instants) {
    Widths made;
    std::vector<double> widths;
    const std::int64_t wall = cluster.wall_offset(solution.reference);
    for (std::uint32_t host = 0; host < cluster.options().hosts; ++host) {
        for (int i = 0; i < instants; ++i) {
            const std::int64_t t = cluster.options().duration_ns / instants * i +
                                   (std::int64_t{host} * 7919 + i * 104'729) % 1'000'000;
            if (cluster.is_asleep(host, t)) {
                continue;
            }
            const analysis::ClusterTime told = solution.maps[host].at(
                base::Instant(base::HostClock{host}, cluster.clock(host, t)));
            const base::Instant<base::ClusterClock> truth(
                {}, cluster.clock(solution.reference, t) + wall);
            ++made.asked;
            if (!told.is_bounded) {
                ++made.unbounded;
                continue;
            }
            widths.push_back(static_cast<double>(told.latest - told.earliest));
            if (truth < told.earliest || truth > told.latest) {
                ++made.outside;
                made.worst_ns =
                    std::max({made.worst_ns, told.earliest - truth, truth - told.latest});
            }
        }
    }
    std::sort(widths.begin(), widths.end());
    if (!widths.empty()) {
        made.median_ns = widths[widths.size() / 2];
        made.greatest_ns = widths.back();
    }
    return made;
}

}  // namespace dyetrace::simulation
