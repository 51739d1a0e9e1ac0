// What ClusterClock has taken in: all that maps are made of.
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <vector>

#include "analysis/clock/clock_message.h"
#include "analysis/clock/host_pair.h"

namespace dyetrace::analysis {

struct ClockHost {
    std::uint32_t host = 0;
    std::int64_t wall_offset_ns =
        0;  // wall clock minus the host's clock: used where messages say nothing, and of the reference
    std::int64_t first_ns = kNeverAfter;  // its events lie between these, as far as known
    std::int64_t last_ns = kNeverBefore;
};

// Around a step that one of two hosts made, on the clock of one of them. Two follow each other in
// ClockState::cuts: that of the host that seems late after it (it stood still), and that of the
// other one (it jumped ahead).
struct HostCut {
    std::uint32_t host = 0;
    std::uint32_t seen_by = 0;  // pair
    std::int64_t sure = 0;      // before the step
    std::int64_t last_old = 0;  // until here the old time is used
    std::int64_t begins = 0;    // from here the new one
    std::int64_t proven = 0;    // after the step
};

// A message of which it is not certain whether one of its hosts stepped before it.
struct UnsureMessage {
    std::uint32_t pair = 0;
    PairSample sample;

    auto operator<=>(const UnsureMessage&) const = default;
};

struct HostState {
    ClockHost asked;
    std::vector<std::uint32_t> pairs;
};

// Hosts and pairs by dense indexes.
struct ClockState {
    static constexpr std::size_t kContradictionsShown = 16;

    ClockAssumptions assumptions;
    std::vector<HostState> hosts;
    std::vector<HostPair> pairs;
    std::vector<HostCut> cuts;
    std::set<UnsureMessage> unsure;  // no corner that counts stands for these
    std::uint64_t contradictions = 0;
    std::vector<ClockMessage> contradicting;  // the first of them

    ClockMessage message_of(std::uint32_t pair, const PairSample& sample) const {
        const base::Instant<base::HostClock> x({hosts[pairs[pair].first()].asked.host}, sample.x);
        const base::Instant<base::HostClock> y({hosts[pairs[pair].second()].asked.host}, sample.y);
        return sample.is_above ? ClockMessage{x, y} : ClockMessage{y, x};
    }
};

}  // namespace dyetrace::analysis
