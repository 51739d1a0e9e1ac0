// No message is received before it was sent, between the instants of the grid either.
//
//   At the instants all times fit together. Between two of them a map is straight, while the corner of a corridor may lie there: a message
//   that was quicker than those at both instants. Where the maps are beyond it, the four knots around its two ends give way, each by its
//   share; that is a projection on one linear condition after the other, which converges as the conditions have a solution in common.
//
// If the maps keep the corners of all corridors, they keep all messages: between corners a corridor's ceiling is bent downward and the maps are
// straight.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/clock/clock_map.h"

namespace dyetrace::analysis {

class MapRepair {
  public:
    static constexpr double kRoundingNs =
        3;  // two knots on each side and the map's result are rounded

    // A message: of which hosts (index into the knots) and when on their clocks.
    struct Condition {
        std::uint32_t from = 0, to = 0;
        std::int64_t sent_ns = 0, received_ns = 0;
        double margin_ns =
            0;  // how much earlier than it was sent or received messages may have been that it stands for
    };

    // The knots of host `fixed` stay.
    MapRepair(std::vector<std::vector<ClockKnot>>& knots, std::uint32_t fixed);

    // Returns how many conditions do not hold in the end.
    std::uint64_t run(const std::vector<Condition>& conditions);
    bool holds(const Condition& condition) const;
    // Which knots run() moved: host and its time.
    const std::vector<std::pair<std::uint32_t, std::int64_t>>& moved() const { return moved_; }

  private:
    struct Place {  // of a time on a host's map: value = base_ns + rest
        std::size_t knot = 0;
        double share = 0;  // of the next knot
        std::int64_t base_ns = 0;
        double rest = 0;
    };
    Place place(std::uint32_t host, std::int64_t at) const;
    double lacking(const Condition& condition, const Place& sent, const Place& received) const;
    void move(std::uint32_t host, std::size_t knot, double by);
    void give_way(const Condition& condition, const Place& sent, const Place& received, double by);
    void round();

    std::vector<std::vector<ClockKnot>>& knots_;
    std::vector<std::vector<double>> shifts_;  // of each knot, so far
    std::uint32_t fixed_;
    std::vector<std::pair<std::uint32_t, std::int64_t>> moved_;
};

}  // namespace dyetrace::analysis
