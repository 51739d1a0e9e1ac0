// Asks a trace for a trail.
#pragma once

#include <atomic>

#include "base/result.h"
#include "reports/follow/follow_starts.h"
#include "reports/follow/follow_trail.h"
#include "store/database.h"

namespace dyetrace::reports {

// kNotFound: the trace does not have what is asked about. Setting `*cancelled` makes it kInterrupted.
Result<FollowTrail> read_trail(store::Database& database,
                               const FollowQuestion& question,
                               const std::atomic<bool>* cancelled = nullptr);

}  // namespace dyetrace::reports
