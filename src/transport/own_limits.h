// What an agent allows itself, and says when it binds.
//
//   bandwidth    bytes a second to the collector          what waits, waits in the spool
//   CPU          share of one CPU for shipping            the same; a recorder's own cost is what it records
//   memory       of the agent and its recorders together  above it, the youngest session ends
//
// Limits: looked at once per tick; memory once a second.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "transport/token_bucket.h"

namespace dyetrace::transport {

struct LimitOptions {  // 0: none
    std::uint64_t bandwidth_bytes_max = 0;
    std::uint32_t cpu_percent_max = 0;
    std::uint64_t memory_bytes_max = 0;
};

class OwnLimits {
  public:
    explicit OwnLimits(const LimitOptions& options);

    // May something be shipped now?
    bool may_ship(std::int64_t now_ns);
    void shipped(std::uint64_t bytes) { bandwidth_.take(static_cast<double>(bytes)); }

    // A line when a limit has begun to bind, once a minute while it does.
    std::optional<std::string> news(std::int64_t now_ns);

    // What all of these and this process hold, when it is more than allowed.
    std::optional<std::uint64_t> too_much_memory(std::int64_t now_ns,
                                                 const std::vector<pid_t>& recorders);

  private:
    LimitOptions options_;
    TokenBucket bandwidth_;
    TokenBucket cpu_;
    double cpu_seen_ns_;
    std::string binding_;
    std::int64_t said_ns_ = 0;
    std::int64_t weighed_ns_ = 0;
};

}  // namespace dyetrace::transport
