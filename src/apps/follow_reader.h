// Asks a trace for a trail.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/follow_trail.h"
#include "base/result.h"
#include "store/database.h"

namespace dyetrace::apps {

// What is followed: one of path, event and hash.
struct FollowQuestion {
    std::optional<std::string> path;
    std::uint64_t begin = 0, end = UINT64_MAX;  // bytes of the file at that path
    std::optional<std::uint64_t> event;
    std::optional<std::uint64_t> hash;  // events that moved exactly these bytes
    analysis::Direction direction = analysis::Direction::kForward;
    schema::Certainty min_certainty = schema::Certainty::kLikely;
};

// kNotFound: the trace has no such object, event or hash.
Result<FollowTrail> read_trail(store::Database& database, const FollowQuestion& question);

}  // namespace dyetrace::apps
