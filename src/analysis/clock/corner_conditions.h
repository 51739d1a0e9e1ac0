// What maps must keep so that no message is received before it was sent: the corners of all corridors, and where a knot was moved the corridors
// around it.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/clock/clock_state.h"
#include "analysis/clock/map_repair.h"

namespace dyetrace::analysis {

class CornerConditions {
  public:
    // `state` must outlive this.
    explicit CornerConditions(const ClockState& state) : state_(state) {}

    // Of the pairs between these hosts.
    std::vector<MapRepair::Condition> corners(const std::vector<std::uint32_t>& hosts) const;
    // What the corridors of a host say when its clock shows `at`, as if messages had gone both ways there.
    void add_at(std::uint32_t host, std::int64_t at, std::vector<MapRepair::Condition>& made) const;

  private:
    const ClockState& state_;
};

}  // namespace dyetrace::analysis
