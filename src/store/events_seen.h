// Which events a look at a trace has seen, so that a later one, by whatever database of the same trace, reads only those that came since.
//
//   EventsSeen seen = database.events_seen();
//   … the recorder goes on; database.refresh() …
//   TRY(auto scan, database.scan_new_numbers("SELECT event_id FROM events", seen));
//   if (!scan) { all must be read anew: something of what was seen is not there as it was }
//
//   seen    sealed-000001  sealed-000002  segment-000003: 7 blocks
//   now     sealed-000001  sealed-000002  sealed-000003                  segment-000004: 2 blocks
//   new                                   rows after the 7 blocks       2 blocks
//
// Nothing is concluded from times or from sequence numbers of the whole trace: an event is new if its block or its file is. Only in a segment that was
// sealed in between rows are told apart by their sequence numbers, which rise within a CPU from block to block (docs/trace_format.md);
// where they do not, all must be read anew. What costs is the new part: files that were seen are not opened.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dyetrace::store {

struct EventsSeen {
    struct Segment {
        bool is_sealed = false;
        std::vector<std::string> records;  // of a sealed one: which files were whole
        // A segment that is not sealed has checksums of its blocks' headers, which say where each is and what is in it.
        std::vector<std::uint64_t> blocks = {};
        bool is_complete = false;  // it had its end block
        bool is_in_order = true;   // sequence numbers rise, and nothing was damaged
        std::uint64_t events = 0;  // records of the stream `events`
        std::map<std::uint16_t, std::uint64_t> last_sequences = {};  // of them, by CPU
    };
    std::map<std::string, Segment> segments;  // by folder and number, sealed or not
};

}  // namespace dyetrace::store
