// The maps of all hosts as they were kept (table clock_map): pieces in, cluster time out. What ClockMap says, without the messages.
//
//   ClockPieces clock;
//   clock.add({.host = 3}, piece);                 of each host in order of time
//   clock.at(Instant({3}, 95'000))                 time, earliest, latest; nothing: there is no piece of this host
//
// Before the first piece and after the last one time goes on as there, and is not bounded. O(log
// pieces). 64 bytes a piece.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/clock/clock_map.h"

namespace dyetrace::analysis {

class ClockPieces {
  public:
    void add(base::HostClock host, const ClockPiece& piece);

    std::optional<ClusterTime> at(base::Instant<base::HostClock> instant) const;

  private:
    std::unordered_map<std::uint32_t, std::vector<ClockPiece>> pieces_;
};

}  // namespace dyetrace::analysis
