// Payload and the events that it belongs to, brought together.
//
//   pieces ──► take_payload()  ─┐
//   facts  ──► take_facts()    ─┼──► release(): what kept events moved, by the end of the calls, with its place
//   events ──► take_events()   ─┘
//
// The kernel hands out pieces before their event, which alone knows the object and the place, and whether it is kept at all.
// What belongs to no kept event never leaves here.
//
// Limits: one thread. `waiting_bytes_max` of a CPU wait for their events, which come with the same drain, with --only-dyed the
// next, and of a call so large that it lasts over several drains the last; then the oldest are lost. Handles: kHandlesMax are remembered; one that was forgotten is an object of its own.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "schema/record.h"

namespace dyetrace::capture {

// Bytes that lie in a row: a file, or one direction of a socket or pipe.
struct Lane {
    std::uint32_t object_id = 0;
    bool is_inbound =
        false;  // of sockets and pipes; what is read from a file is what is written to it

    friend auto operator<=>(const Lane&, const Lane&) = default;
};

// A piece of what an event moved, as large as it was seen without a hole.
struct Payload {
    std::uint16_t cpu = 0;
    std::uint64_t sequence = 0;  // of the event
    std::uint64_t position = 0;  // in what it moved
    Lane lane;
    // The first byte's place in the lane; nothing where the kernel does not number it: pipes, unix sockets, datagrams, MSG_PEEK,
    // calls on one file position that overlapped, and what has a place in two lanes (sendfile, splice, copy_file_range).
    std::optional<std::uint64_t> place;
    std::uint64_t end_ns = 0;  // of the event
    std::vector<std::byte> bytes;
};

class PayloadJoin {
  public:
    static constexpr std::size_t kHandlesMax = 1u << 20;  // 32 MB

    PayloadJoin(std::uint32_t cpus, std::uint64_t waiting_bytes_max)
        : waiting_(cpus), waiting_bytes_max_(waiting_bytes_max) {}

    // Whole pieces (kernel/abi.h), facts and events of a drain, in this order.
    void take_payload(std::uint32_t cpu, std::span<const std::byte> pieces);
    void take_facts(std::span<const std::byte> records);
    void take_events(std::uint32_t cpu, std::span<const std::byte> kept);
    // Which events with smaller sequence numbers are kept is decided: what was not claimed is no longer waited for.
    void pass(std::uint32_t cpu, std::uint64_t sequence) { drop_before(waiting_[cpu], sequence); }

    // What ended before, in the order of its end. Events that end before the drain begins have all come by its end.
    void release(std::uint64_t before_ns, const std::function<void(Payload)>& sink);

    // Bytes of events that were not kept. All that still waits counts when nothing more comes.
    std::uint64_t left_out_bytes() const { return left_out_; }
    // Bytes for which there was no room to wait in; nobody knows whether their events were kept.
    std::uint64_t lost_bytes() const { return lost_; }
    void give_up();

  private:
    struct Handle {
        std::uint32_t object_id = 0;
        schema::ObjectType type{};
    };

    struct Waiting {
        std::deque<Payload> pieces;
        std::uint64_t bytes = 0;
    };

    Payload take_oldest(Waiting& waiting);
    void drop_before(Waiting& waiting, std::uint64_t sequence);
    template <typename Event>
    void claim(std::uint32_t cpu, const Event& event, std::uint16_t call);
    Lane lane_of(std::uint32_t handle_id, bool is_inbound, bool& is_file) const;

    std::vector<Waiting> waiting_;  // for their events, by CPU
    std::uint64_t waiting_bytes_max_;
    std::vector<Payload> claimed_;
    std::unordered_map<std::uint32_t, Handle> handles_;
    std::uint64_t left_out_ = 0, lost_ = 0;
};

}  // namespace dyetrace::capture
