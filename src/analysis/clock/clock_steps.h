// Which host it was that stepped.
//
//   a ──── b     The pair (a, b) saw a step: a stood still, or b jumped ahead. If it was a, c sees it too; if it was b, d does, and nothing
//   │      │     changed between a and c. Where nobody else can tell, either may have been it.
//   c      d
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/clock/clock_map.h"
#include "analysis/clock/clock_state.h"

namespace dyetrace::analysis {

// A clock that jumped or stood still, as the other hosts see it.
struct ClockStep {
    base::Instant<base::HostClock> at;
    std::int64_t missing_ns =
        0;  // cluster time that the host's clock did not count; negative: it counted too much
};

class ClockSteps {
  public:
    // `state` must outlive this.
    explicit ClockSteps(const ClockState& state);

    // How often a host stepped, or may have.
    std::size_t of(std::uint32_t host) const { return of_host_[host]; }
    // Whether the host of this cut stepped there, or may have.
    bool is_blamed(std::size_t cut) const { return is_blamed_[cut] != 0; }
    // Whether a pair's clocks may be apart by more after the beginning of this stretch than before.
    bool may_jump(std::uint32_t pair, const PairStretch& stretch) const {
        return is_blamed(stretch.cut) || state_.cuts[stretch.cut].seen_by == pair;
    }
    // What counts of a stretch: if its pair may jump where it ends, only what is sure to be before that.
    const Corridor& corridor(std::uint32_t pair, std::size_t stretch) const;
    // Whether a host's clock may never have shown this: between its last message before a step and
    // its first one after it.
    bool is_in_gap(std::uint32_t host, std::int64_t at) const;
    // Whether it is not certain if the host's clock had stepped when it showed this.
    bool is_unsure(std::uint32_t host, std::int64_t at) const;
    // What the maps say of it.
    std::vector<ClockStep> told(const std::vector<ClockMap>& maps) const;

  private:
    // Whether `at` is between these two times of a step that is blamed on the host.
    bool is_inside(std::uint32_t host,
                   std::int64_t at,
                   std::int64_t HostCut::*before,
                   std::int64_t HostCut::*after) const;
    static int votes(const ClockState& state, const HostCut& cut, double size);

    const ClockState& state_;
    std::vector<std::size_t> of_host_;
    std::vector<char> is_blamed_;  // of each cut
};

}  // namespace dyetrace::analysis
