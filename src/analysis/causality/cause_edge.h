// One step of cause: what `from` did before `to` could do what it did, and by which rule that is known.
//
//   thread 1   ───[ send ]────────────►        from_at: the moment in the send's thread after which the bytes can leave, its start
//                 │ tcp
//   thread 2   ───┼──[   recv ]───────►        to_at: the moment in the receive's thread before which they were there, its end
//                 └─────────►
//
// Moments are CLOCK_BOOTTIME of the thread's host and are compared inside one thread only: they are its order, nothing else.
#pragma once

#include <cstdint>

#include "schema/generated/records.h"

namespace dyetrace::analysis {

struct EventPlace {
    std::uint64_t event = 0;
    std::uint64_t thread = 0;
    std::uint64_t begin = 0;  // CLOCK_BOOTTIME of its host
    std::uint64_t end = 0;

    friend bool operator==(const EventPlace&, const EventPlace&) = default;
};

struct CauseEdge {
    std::uint64_t from_event = 0;
    std::uint64_t from_thread = 0;
    std::uint64_t from_at = 0;
    std::uint64_t to_event = 0;
    std::uint64_t to_thread = 0;
    std::uint64_t to_at = 0;
    // Numbers that grow along every edge and never shrink in a thread: CausalOrder gives them.
    std::uint64_t from_rank = 0;
    std::uint64_t to_rank = 0;
    schema::CauseRule rule = schema::CauseRule::kFork;

    friend bool operator==(const CauseEdge&, const CauseEdge&) = default;
};

}  // namespace dyetrace::analysis
