// What maps must keep so that no message is received before it was sent: the corners of all corridors, and where a knot was moved the corridors
// around it.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/clock/clock_state.h"
#include "analysis/clock/clock_steps.h"
#include "analysis/clock/map_repair.h"

namespace dyetrace::analysis {

class CornerConditions {
  public:
    // Both must outlive this.
    CornerConditions(const ClockState& state, const ClockSteps& steps)
        : state_(state), steps_(steps) {}

    // Gives the conditions of the pairs between these hosts.
    std::vector<MapRepair::Condition> corners(const std::vector<std::uint32_t>& hosts) const;
    // That no map of theirs runs backwards between the knots of a step.
    void add_order(const std::vector<std::uint32_t>& hosts,
                   const std::vector<std::vector<ClockKnot>>& knots,
                   std::vector<MapRepair::Condition>& made) const;
    // The messages between these hosts around steps.
    std::vector<MapRepair::Condition> unsure(const std::vector<std::uint32_t>& hosts) const;
    // What the corridors of a host say when its clock shows `at`, as if messages had gone both ways there.
    void add_at(std::uint32_t host, std::int64_t at, std::vector<MapRepair::Condition>& made) const;

  private:
    const ClockState& state_;
    const ClockSteps& steps_;
};

}  // namespace dyetrace::analysis
