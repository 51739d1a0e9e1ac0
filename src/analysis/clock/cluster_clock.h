// One clock for all hosts: messages in, and at any time a map per host out. What it stands on is docs/clock.md.
//
//   ClusterClock clock;
//   clock.add_host({.host = 0, .wall_offset_ns = …});
//   clock.add_host({.host = 3, .wall_offset_ns = …});
//   clock.add({.sent = Instant({0}, 100), .received = Instant({3}, 90'000)});     a few million a second
//   ClockSolution solution = clock.solve();                                       live: as often as wanted
//   solution.maps[1].at(Instant({3}, 95'000))       time, earliest, latest
//
//   add ──▶ HostPair: corridor between two clocks, in stretches ──▶ solve: InstantGraph at each instant of a grid ──▶ repair ──▶ maps
//           (bounded by corners, not by messages)                          (bounds along the best path)
//
// Messages come in the order in which they were received, roughly: what comes late is used, but a step is seen best in order. Memory: the
// corners of each pair that speaks (ceiling.h), kRecentMax messages per host.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/clock/clock_map.h"
#include "analysis/clock/clock_state.h"
#include "analysis/clock/clock_steps.h"

namespace dyetrace::analysis {

struct ClockSolution {
    std::uint32_t reference = 0;  // whose clock is cluster time
    std::vector<ClockMap> maps;   // of each host, in order of hosts
    std::vector<ClockStep> steps;
    std::uint64_t contradictions =
        0;  // messages that no clocks allow, and cycles of hosts that none allow
    std::vector<ClockMessage> contradicting;  // the first of them
    std::uint64_t inversions =
        0;  // messages at corners that the maps receive before they were sent
};

class ClusterClock {
  public:
    static constexpr std::size_t kHostsMax = 1024;  // more than a trace has
    static constexpr std::size_t kRecentMax =
        1024;  // messages of a host that may turn out to be after a step: 32 KB
    static constexpr std::size_t kStepsMax =
        256;  // each costs eight instants; after them steps are contradictions

    static constexpr std::size_t kUnsureMax =
        kStepsMax * kRecentMax;  // 16 MB; of more the maps may receive some before they were sent

    explicit ClusterClock(ClockAssumptions assumptions = {}) { state_.assumptions = assumptions; }

    // Each host once, before its messages.
    void add_host(const ClockHost& host);
    // Both hosts must have been added; a message of a host to itself tells nothing.
    void add(const ClockMessage& message);

    ClockSolution solve() const;

    const ClockAssumptions& assumptions() const { return state_.assumptions; }
    std::size_t corners() const;  // held in memory

  private:
    struct Recent {
        std::uint32_t pair = 0;
        PairSample sample;
        bool is_refused = false;
    };
    struct RecentMessages {
        std::vector<Recent> ring;
        std::size_t next = 0;
        std::int64_t forgotten_until =
            kNeverBefore;  // by the host's clock: of messages that are not in it any more
    };

    std::int64_t own_time(std::uint32_t host, const Recent& message) const;
    std::uint32_t pair_of(std::uint32_t a, std::uint32_t b);
    void remember(std::uint32_t host, std::uint32_t pair, const PairSample& sample);
    void forget_refused(std::uint32_t host, const Recent& message);
    void keep_if_unsure(const Recent& message);
    void take(std::uint32_t pair, const PairSample& sample);
    static std::vector<PairSample> remembered_of(const std::vector<Recent>& messages,
                                                 std::uint32_t pair);
    void cut_both(std::uint32_t pair);
    std::int64_t first_doubt(std::uint32_t host,
                             std::int64_t sure,
                             std::int64_t seen,
                             bool received) const;
    void cut(std::uint32_t host,
             std::int64_t sure,
             std::int64_t proven,
             std::uint32_t seen_by,
             std::int64_t ahead_ns);
    void take_again(const std::vector<Recent>& messages);
    void refuse(std::uint32_t pair, const std::vector<PairSample>& refused);

    ClockState state_;
    std::vector<RecentMessages> recent_;  // of each host
    std::unordered_map<std::uint32_t, std::uint32_t> host_index_;
    std::unordered_map<std::uint64_t, std::uint32_t> pair_index_;
};

}  // namespace dyetrace::analysis
