// Takes the first and last bytes off events before anybody sees them, and finds with them the dyes that cross the border of two calls.
//
//   ring ─► take() ─► the event without `dye_edges` ─► on its way to the disk
//              └─► pieces that wait ─► join(until) ─► crossings()
//
// Pieces wait until no earlier one can come: what ended before a drain began is in the rings then, of whatever CPU.
// The bytes are in memory only, and only as long as a neighbour may come.
//
// Limits: those of DyeBorders; pieces that wait are no more than the rings held. One thread.
#pragma once

#include <cstdint>
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
    // By the kernel, in all events so far: they were too many to be compared.
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

    void wait_for_turn(std::uint32_t cpu,
                       const schema::SyscallEvent& event,
                       std::string_view edges);
    // Bytes that nobody has seen were moved by an event, or by a part of one.
    void wait_unseen(const schema::SyscallEvent& event);
    void wait_unseen(std::uint32_t handle_id,
                     std::uint64_t end_ns,
                     std::int64_t bytes,
                     std::optional<std::int64_t> position);

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
