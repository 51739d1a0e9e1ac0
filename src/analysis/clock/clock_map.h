// Maps one host's clock to cluster time: a line between knots, with the interval that the truth is in.
//
//   cluster  ▲                 ┆    ╱│ latest
//   time     │        ╱────╱   ┆  ╱──╯ time
//            │   ╱──╯    ╱     ┆╱      earliest
//            └──┴─────┴────────┴──────▶ the host's clock
//               knot  knot     a step: the host stood still here
//
// Only this converts. Cluster time is what the clock of the reference host shows, as wall time; see docs/clock.md.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/clock.h"

namespace dyetrace::analysis {

// When an event was, as far as it is known.
struct ClusterTime {
    base::Instant<base::ClusterClock> time;
    base::Instant<base::ClusterClock> earliest;
    base::Instant<base::ClusterClock> latest;
    bool is_bounded =
        false;  // else earliest and latest mean nothing: no message ties this host to the cluster
};

struct ClockKnot {
    std::int64_t host_ns = 0;
    std::int64_t cluster_ns = 0;
    double below_ns = 0;  // the truth is not earlier than cluster_ns - below_ns
    double above_ns = 0;  // nor later than cluster_ns + above_ns; infinity: not bounded
};

// A stretch of a host's clock on which cluster time, and what it may be off by, are straight lines.
struct ClockPiece {
    std::int64_t from_ns = 0, to_ns = 0;             // of the host's clock; to_ns not included
    std::int64_t cluster_ns = 0, cluster_to_ns = 0;  // at the two ends
    double below_ns = 0, above_ns = 0;               // at the beginning; infinity: not bounded
    double below_to_ns = 0, above_to_ns = 0;
};

class ClockMap {
  public:
    // rate_apart, wander: of ClockAssumptions. Knots in order of host_ns, at least one.
    ClockMap(base::HostClock host,
             std::vector<ClockKnot> knots,
             double rate_apart_max,
             double wander_max_per_s);

    base::HostClock host() const { return host_; }
    const std::vector<ClockKnot>& knots() const { return knots_; }

    // `instant` must be of this host.
    ClusterTime at(base::Instant<base::HostClock> instant) const;
    // The pieces from `first_ns` to `last_ns`, both included and not below 0, give what at() gives;
    // after a knot below 0 they may be up to 1 ns off.
    std::vector<ClockPiece> pieces(std::int64_t first_ns, std::int64_t last_ns) const;
    // How far the clocks may bend between this knot and the next one: it is added to both sides of
    // the interval there.
    double slack_after(std::size_t knot) const;

  private:
    ClockKnot carried(const ClockKnot& nearest, std::int64_t host_ns) const;

    base::HostClock host_;
    std::vector<ClockKnot> knots_;
    double rate_apart_max_;
    double wander_per_ns_;
};

}  // namespace dyetrace::analysis
