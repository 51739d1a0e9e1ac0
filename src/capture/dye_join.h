// Takes the first and last bytes off events before anybody sees them, and finds with them the dyes that cross the border of two calls.
//
//   ring ─► take() ─► the event without `dye_edges` ─► on its way to the disk
//              └─► pieces that wait ─► join(until) ─► crossings()
//
// sendfile, splice and copy_file_range move the same bytes of two objects: a piece of each. What lies over the borders of both is told
// once, as what lies inside of such a call is, with the object on which it was seen first.
//
// Pieces wait until no earlier one can come: what ended before a drain began is in the rings then, of whatever CPU.
// The bytes are in memory only, and only as long as a neighbour may come.
//
// Limits: those of DyeBorders; pieces that wait are no more than the rings held. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/dye_borders.h"
#include "schema/id_table.h"
#include "schema/record.h"

namespace dyetrace::capture {

class DyeJoin {
  public:
    static constexpr std::size_t kHandlesMax = 131'072;  // as schema::Dictionary remembers; 2 MiB

    DyeJoin() : handles_(kHandlesMax) {}

    void learn(std::span<const std::byte> facts);
    // Appends the records to `stripped`; those of calls without their first and last bytes.
    void take(std::uint32_t cpu,
              std::span<const std::byte> events,
              std::vector<std::byte>& stripped);
    // Joins what ended before.
    void join(const DyeTable& table, std::uint64_t until_ns);
    void events_were_lost() { borders_.forget_orders(); }

    // What the last join() found.
    const std::vector<schema::DyeHit>& crossings() const { return crossings_; }
    // Events that have to do with them: in which they end, and which completed them.
    const std::vector<std::pair<std::uint32_t, std::uint64_t>>& touched() const { return touched_; }
    const std::vector<schema::Anchor>& anchor_crossings() const { return anchor_crossings_; }
    std::uint64_t forgotten() const { return borders_.forgotten(); }
    // Records of hits of this dye so far, crossings too.
    std::uint64_t hits(std::uint32_t dye) const {
        const auto found = hits_.find(dye);
        return found == hits_.end() ? 0 : found->second;
    }
    // What the kernel dropped in all events so far: they were too many to be compared.
    std::uint64_t candidates_dropped() const { return candidates_dropped_; }

  private:
    struct Handle {
        std::uint32_t object_id = 0;
        bool has_order = false;  // pipes and unix streams: bytes follow each other, without numbers
    };
    struct Waiting {
        std::uint64_t end_ns = 0;
        bool seen = false;  // else nobody has seen its bytes
        DyePiece piece;
    };
    // What the bytes of a call, or part, lie on.
    struct Place {
        std::uint32_t handle_id = 0;            // 0: nothing
        std::optional<std::uint64_t> position;  // in a file or TCP stream, if it is certain
    };
    struct Moved {
        std::uint64_t sequence = 0;
        std::uint64_t end_ns = 0;
        std::uint64_t bytes = 0;
        Place first, second;
        std::shared_ptr<DyesTold> told;  // of two objects: see DyePiece
        bool has_order = true;           // such calls end in the order in which they move bytes
    };

    template <typename Event>
    static Moved moved_by_any(const Event& event);
    static Moved moved_by(const schema::SyscallEvent& event);
    static Moved moved_by(const schema::PartEvent& part);
    template <typename Event>
    void take_event(std::uint32_t cpu,
                    schema::RecordBytes record,
                    const Event& event,
                    std::vector<std::byte>& stripped);
    // On one of the two.
    void wait_for_turn(std::uint32_t cpu, const Moved& moved, bool second, std::string_view edges);
    // Nobody has seen the bytes.
    void wait_unseen(const Moved& moved, bool second);
    void join_piece(const DyeTable& table, DyePiece piece);
    void hand_out(const DyeTable& table, const DyeCrossing& one);

    schema::IdTable<Handle> handles_;
    std::vector<Waiting> waiting_;
    DyeBorders borders_;
    std::uint64_t candidates_dropped_ = 0;
    std::unordered_map<std::uint32_t, std::uint64_t> hits_;  // by dye
    std::vector<DyeCrossing> found_;
    std::vector<schema::DyeHit> crossings_;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> touched_;  // cpu and sequence
    std::vector<schema::Anchor> anchor_crossings_;
};

}  // namespace dyetrace::capture
