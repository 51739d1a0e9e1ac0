// Asks a trace for a trail.
#pragma once

#include "apps/follow_starts.h"
#include "apps/follow_trail.h"
#include "base/result.h"
#include "store/database.h"

namespace dyetrace::apps {

// kNotFound: the trace does not have what is asked about.
Result<FollowTrail> read_trail(store::Database& database, const FollowQuestion& question);

}  // namespace dyetrace::apps
