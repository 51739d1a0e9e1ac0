// What of a snapshot a look has not seen yet (events_seen.h). For this folder's sources only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "store/events_seen.h"
#include "store/record_scan.h"
#include "store/snapshot.h"

namespace dyetrace::store {

struct NewEvents {
    // A segment of which the first blocks were seen, and which is sealed now.
    struct Rest {
        SealedFolder folder;
        std::map<std::uint16_t, std::uint64_t> last_sequences;  // that were seen, by CPU
    };
    std::vector<SealedFolder> sealed;
    std::vector<Rest> rests;
    std::vector<ScanBlock> blocks;  // of the snapshot's segments
};

EventsSeen events_seen(const Snapshot& snapshot);

// Nothing: what was seen is not all there, or not as it was.
std::optional<NewEvents> new_events(const Snapshot& snapshot, const EventsSeen& seen);

// Statements that make internal.raw_<record> of what is new, for records of events. Blocks are those of the table function `blocks_function`.
std::string new_events_views(const NewEvents& events, const std::string& blocks_function);

}  // namespace dyetrace::store
