// A trail as people see it: calls that a process made alike on one object while it ran one program are one hop, and flows between two hops one link.
//
//   cat[812] read /a, 8 calls ──likely (hash), 8 flows──► cat[812] write pipe:[77], 8 calls ──certain (pipe)──► …
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/dataflow/trail.h"

namespace dyetrace::reports {

// What became of bytes that a process took in and that none of its later writes has as they were; back: the same of what it wrote.
enum class LostSight : std::uint8_t {
    kNot,
    kChanged,    // why is not known
    kScrambled,  // what it wrote looks compressed or encrypted, and what it took in does not
    kUnscrambled,
};

// How random bytes look: byte values among 64 bytes (events.distinct_bytes), on average over what was moved.
class Spread {
  public:
    void add(const analysis::Operation& operation) {
        if (operation.distinct_bytes > 0) {
            sum_ += operation.distinct_bytes * operation.bytes;
            bytes_ += operation.bytes;
        }
    }
    // Random bytes have 57 and hardly ever less than 48, base64 39 to 47.
    bool is_random() const { return bytes_ > 0 && sum_ >= 52 * bytes_; }
    bool is_known() const { return bytes_ > 0; }

  private:
    std::uint64_t sum_ = 0, bytes_ = 0;
};

struct FollowHop {
    std::uint64_t process = 0;
    std::uint64_t call = 0;                 // abi << 16 | number
    std::uint64_t object = 0, object2 = 0;  // taken from, put into
    std::uint64_t first_event = 0;
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;  // of the trail
    std::uint64_t
        offset = analysis::kUnknown,
        offset_end =
            0;  // of the file or stream, as far as they cover it; offset kUnknown: not known
    std::uint64_t start_ns = 0;  // when the first call began
    std::uint64_t first_ns = 0;  // when the first call ended: what it read was there
    std::uint64_t end_ns = 0;    // when the last call ended
    Spread spread = {};          // of its calls
    bool is_start = false;
    LostSight lost_sight = LostSight::kNot;
    // What people call these things; the reader of the trace fills them in.
    std::string who = {}, name = {}, what = {};
    std::string path = {}, path2 = {};
    std::string host = {}, node = {};

    // When its first bytes moved: not before a call that put them somewhere began, and not after one that took them out ended. Who
    // receives may be done before who sends is, but not before that one began.
    std::uint64_t moved_ns() const { return object2 != 0 ? start_ns : first_ns; }
};

struct FollowLink {
    std::size_t near = 0, far = 0;  // hops; the trail went from near to far
    std::uint64_t flows = 0;
    std::uint64_t bytes = 0;
    unsigned rules = 0;                                         // bits 1 << FlowRule
    schema::Certainty certainty = schema::Certainty::kCertain;  // of the least certain
};

struct FollowTrail {
    std::string question;  // "/tmp/a, bytes 0 to 100"
    analysis::Direction direction = analysis::Direction::kForward;
    schema::Certainty min_certainty = schema::Certainty::kLikely;
    std::vector<FollowHop> hops;         // by time
    std::vector<FollowLink> links;       // by near hop, then by the time of the far one
    std::uint64_t flows[3] = {0, 0, 0};  // steps by certainty
    std::string gaps;                    // what is missing in this time; empty: nothing
    std::size_t files = 0;               // that had the path asked about, one after the other
    bool has_content = false;            // the trace has fingerprints
    bool is_cut = false;                 // the trail was longer than follow goes
    std::size_t hops_left_out = 0;
};

// "hash", "file, pipe".
std::string rules_text(unsigned rules);

// Puts the operations that a trail reached together. Tell it each of them once, in any order; then build. With drops_reached_starts a
// hop that the trail leads to from an earlier one (back: a later one) is none of its starts.
class FollowTrailBuilder {
  public:
    FollowTrailBuilder(const analysis::Trail& trail,
                       std::vector<analysis::TrailPiece> starts,
                       analysis::Direction direction,
                       bool drops_reached_starts = false)
        : trail_(trail),
          starts_(std::move(starts)),
          direction_(direction),
          drops_reached_starts_(drops_reached_starts) {}

    // Any operation of the trace: those that the trail did not reach tell when their process wrote last and read first. `program`: how
    // many its process had run before the one that made the call.
    void add(const analysis::Operation& operation, std::uint64_t call, std::size_t program = 0);

    // At most hops_max of them, the first ones.
    FollowTrail build(std::size_t hops_max);

  private:
    struct Key {
        std::uint64_t process, program, call, object, object2;
        friend bool operator==(const Key&, const Key&) = default;
    };
    struct HashOfKey {
        std::size_t operator()(const Key& key) const;
    };
    struct Place {  // of an event
        std::size_t hop;
        std::uint64_t from_offset, to_offset;
    };

    struct ProcessMoves {                          // of a process
        std::uint64_t last_write_ns = 0;           // when it began
        std::uint64_t first_read_ns = UINT64_MAX;  // when it ended
        Spread read, written;
    };

    void widen(std::size_t hop, std::uint64_t offset, std::uint64_t bytes);
    void add_starts();
    std::vector<FollowLink> links() const;
    bool went_on(const FollowHop& hop, const ProcessMoves& moves) const;
    LostSight why(const FollowHop& hop) const;
    void drop_reached_starts(const std::vector<FollowLink>& links);
    void find_lost_sight(const std::vector<FollowLink>& links);

    const analysis::Trail& trail_;
    std::vector<analysis::TrailPiece> starts_;
    analysis::Direction direction_;
    bool drops_reached_starts_;
    std::vector<FollowHop> hops_;
    std::unordered_map<Key, std::size_t, HashOfKey> by_key_;
    std::unordered_map<std::uint64_t, Place> places_;  // by event
    std::unordered_map<std::uint64_t, ProcessMoves> moves_of_;
};

}  // namespace dyetrace::reports
