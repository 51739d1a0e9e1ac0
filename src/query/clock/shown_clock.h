// The clock that a trace is shown with, for times that are not those of events: `time` of `events` says the same of theirs.
//
//   TRY(const ShownClock clock, ShownClock::of(database, "cluster"));
//   clock.at(host_index, begin_ns)       what CLOCK_BOOTTIME of that host showed, as nanoseconds since 1970
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "query/clock/shared_clock.h"
#include "store/database.h"

namespace dyetrace::query {

class ShownClock {
  public:
    // `clock`: raw, wall or cluster, as use_clock() was told.
    static Result<ShownClock> of(store::Database& database, std::string_view clock);

    std::uint64_t at(std::uint64_t host_index, std::uint64_t boot_ns) const;

  private:
    std::optional<SharedClock> shared_;
    std::unordered_map<std::uint64_t, std::uint64_t> offsets_ns_;  // by host
};

}  // namespace dyetrace::query
