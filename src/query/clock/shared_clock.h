// One clock for what several hosts did: cluster time (table `clock_map`), and the wall clock of a host that exchanged no messages.
//
//   TRY(const SharedClock clock, SharedClock::of(database));
//   clock.at(event, start_ns)        nanoseconds since 1970; of a trace of one host start_ns as it is
//
// offer_clock_map() must have been called.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>

#include "analysis/clock/clock_pieces.h"
#include "base/result.h"
#include "store/database.h"

namespace dyetrace::query {

// The rows of clock_map, of each host in order of time; none of a trace of one host.
Result<void> each_clock_piece(
    store::Database& database,
    const std::function<void(std::uint64_t host_index, const analysis::ClockPiece&)>& take);

class SharedClock {
  public:
    static Result<SharedClock> of(store::Database& database);

    // There are several hosts.
    bool is_needed() const { return !wall_offsets_ns_.empty(); }

    // What CLOCK_BOOTTIME of the event's host showed.
    std::uint64_t at(std::uint64_t event, std::uint64_t boot_ns) const;
    std::uint64_t at_host(std::uint64_t host_index, std::uint64_t boot_ns) const;

  private:
    analysis::ClockPieces pieces_;
    std::unordered_map<std::uint64_t, std::uint64_t>
        wall_offsets_ns_;  // by host; none: there is one
};

}  // namespace dyetrace::query
