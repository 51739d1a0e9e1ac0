// Reads the map in which the kernel counts (src/kernel/memory/totals.h).
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "capture/capture.h"

namespace dyetrace::capture {

// Nanoseconds at which a bucket ends.
std::uint64_t bucket_end_ns(std::uint32_t bucket);

Result<std::vector<Total>> read_totals(int map_fd, std::uint32_t cpus);

}  // namespace dyetrace::capture
