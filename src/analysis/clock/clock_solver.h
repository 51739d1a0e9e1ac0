// Maps of all hosts out of what ClusterClock has taken in so far.
//
// Hosts that messages join, over others too, are an island. In each one host is the reference; the hosts of the other islands are unbounded. An
// island is looked at on a grid of instants, and around each step: for every host the time that its own clock shows then, and by how much that
// is off (InstantGraph). These are the knots of the maps.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/clock/cluster_clock.h"
#include "analysis/clock/instant_graph.h"
#include "analysis/clock/map_repair.h"

namespace dyetrace::analysis {

class ClockSolver {
  public:
    explicit ClockSolver(const ClockState& state) : state_(state), steps_(state) {}

    ClockSolution solve();

  private:
    struct Moment {
        std::vector<std::int64_t> at;          // what each host's clock shows
        std::vector<char> is_known;            // whether it does
        std::vector<double> value, low, high;  // cluster time of that, less `cluster_ns`
        std::int64_t cluster_ns = 0;
    };
    struct Island {
        std::vector<std::uint32_t> hosts;
        std::uint32_t reference = 0;
        bool is_main = false;
    };
    std::vector<Island> find_islands() const;
    static bool knows_the_date(const ClockHost& host);
    std::uint32_t choose_reference(const std::vector<std::uint32_t>& hosts) const;
    void solve_island(const Island& island);
    std::vector<std::int64_t> grid(const Island& island);

    bool look(const Island& island, std::uint32_t anchor, std::int64_t at, Moment& moment);
    // A knot of each of these hosts when the clock of `anchor` shows `at`. Around its step others have better ones.
    void add_moment(const Island& island,
                    std::uint32_t anchor,
                    std::int64_t at,
                    const std::vector<std::uint32_t>& hosts);
    void align(std::uint32_t anchor, std::int64_t at, Moment& moment) const;
    bool cross(const HostPair& pair, std::uint32_t from, Moment& moment) const;
    Corridor::Range range(std::uint32_t pair,
                          std::int64_t x,
                          std::int64_t y,
                          std::size_t stretch) const;
    InstantGraph graph(const Island& island, const Moment& moment) const;
    void settle(const Island& island, Moment& moment);
    void place_unbounded(const Island& island, Moment& moment, InstantGraph& graph) const;
    bool align_again(const Island& island, Moment& moment) const;

    void finish_knots();
    std::uint64_t repair(const Island& island);

    const ClockState& state_;
    ClockSteps steps_;
    std::vector<std::vector<ClockKnot>> knots_;
    std::uint64_t contradictions_ = 0;
};

}  // namespace dyetrace::analysis
