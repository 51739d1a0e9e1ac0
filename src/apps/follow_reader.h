// Asks a trace for a trail.
#pragma once

#include <atomic>

#include "apps/follow_starts.h"
#include "apps/follow_trail.h"
#include "base/result.h"
#include "store/database.h"

namespace dyetrace::apps {

// kNotFound: the trace does not have what is asked about. Setting `*cancelled` makes it kInterrupted.
Result<FollowTrail> read_trail(store::Database& database,
                               const FollowQuestion& question,
                               const std::atomic<bool>* cancelled = nullptr);

}  // namespace dyetrace::apps
