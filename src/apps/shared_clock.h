// One clock for what several hosts did: cluster time (table `clock_map`), and the wall clock of a host that exchanged no messages.
//
//   TRY(const SharedClock clock, SharedClock::of(database));
//   clock.at(event, start_ns)        nanoseconds since 1970; of a trace of one host start_ns as it is
//
// offer_clock_map() must have been called.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "store/database.h"

namespace dyetrace::apps {

class SharedClock {
  public:
    static Result<SharedClock> of(store::Database& database);

    // There are several hosts.
    bool is_needed() const { return !hosts_.empty(); }

    // What CLOCK_BOOTTIME of the event's host showed.
    std::uint64_t at(std::uint64_t event, std::uint64_t boot_ns) const;
    std::uint64_t at_host(std::uint64_t host_index, std::uint64_t boot_ns) const;

  private:
    struct Piece {
        std::uint64_t from_ns, to_ns, cluster_ns, cluster_to_ns;
    };
    struct Host {
        std::uint64_t wall_offset_ns = 0;
        std::vector<Piece> pieces;  // in order of time
    };

    std::unordered_map<std::uint64_t, Host> hosts_;  // by index; none: of one host
};

}  // namespace dyetrace::apps
