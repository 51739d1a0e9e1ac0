// The hosts at one instant: what the messages say of their times together.
//
//   time(from) <= time(to) + weight, for each edge
//
//   a ──2──▶ b ──1──▶ c     time(a) <= time(c) + 3: bounds are carried along the best path, over the whole graph
//   ▲────────5────────┘     time(c) <= time(a) + 5
//
// The greatest and the least solution are two shortest paths; their middle is a solution too, as solutions are a convex set. A
// cycle of negative weight has no solution: its edges are given what is missing, and it is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace dyetrace::analysis {

class InstantGraph {
  public:
    static constexpr double kFree = std::numeric_limits<double>::infinity();

    struct Edge {
        std::uint32_t from = 0, to = 0;
        double weight = 0;
    };

    InstantGraph(std::size_t hosts, std::vector<Edge> edges);

    // Times that no host can be later than, if each is not later than `start`; kFree: nothing is known.
    std::vector<double> greatest(std::vector<double> start);
    // Not earlier than `start`; -kFree: nothing is known.
    std::vector<double> least(std::vector<double> start);

    std::uint64_t contradictions() const { return contradictions_; }

  private:
    std::vector<double> settle(std::vector<double> values, bool is_upper);
    void widen_cycle(std::uint32_t host, const std::vector<std::uint32_t>& by);

    std::size_t hosts_;
    std::vector<Edge> edges_;
    std::vector<std::uint32_t> into_, out_of_;  // indexes of edges, by `to` and by `from`
    std::vector<std::uint32_t> into_begin_, out_of_begin_;  // where those of a host begin
    std::uint64_t contradictions_ = 0;
};

}  // namespace dyetrace::analysis
