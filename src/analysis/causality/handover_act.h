// A call by which something may be handed to another thread without bytes, and what was.
#pragma once

#include <cstdint>

#include "schema/generated/records.h"

namespace dyetrace::analysis {

// Written into traces' questions by number: additions go to the end.
enum class ActKind : std::uint8_t {
    kSignalSent,
    kSignalDelivered,
    kQueuedSignalSent,  // real-time signals: each is delivered
    kQueuedSignalDelivered,
    kFutexWoke,
    kFutexWaited,
    kCounterMade,  // eventfd with 0
    kCounterMadeFull,
    kCounterAdded,
    kCounterRead,
    kLockedShared,
    kLockedExclusive,
    kUnlocked,
};

struct ByteRange {
    std::uint64_t begin = 0;
    std::uint64_t end = UINT64_MAX;  // one after the last

    bool overlaps(const ByteRange& other) const { return begin < other.end && other.begin < end; }
    bool covers(const ByteRange& other) const { return begin <= other.begin && other.end <= end; }
};

struct HandoverAct {
    ActKind kind = ActKind::kSignalSent;
    std::uint64_t event = 0;
    std::uint64_t thread = 0;
    std::uint64_t start_ns = 0;
    std::uint64_t end_ns = 0;
    // Identifies the item: who is signalled with what by whom, the futex, the file, the counter.
    std::uint64_t key = 0;
    // Locks: who has them, an open descriptor or a process. A counter that is made: not 0 if a read takes one; that is read: not 0 if the kernel saw that nothing was left.
    std::uint64_t holder = 0;
    ByteRange range = {};  // locks: which bytes of the file
};

struct Handover {
    std::uint64_t from_event = 0;
    std::uint64_t to_event = 0;
    schema::CauseRule rule = schema::CauseRule::kSignal;

    friend bool operator==(const Handover&, const Handover&) = default;
};

}  // namespace dyetrace::analysis
