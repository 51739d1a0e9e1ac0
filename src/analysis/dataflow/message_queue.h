// One direction of a unix datagram or seqpacket socket: each message is taken once, whole, in the order in which they were sent.
//
//   sent    A(100)  B(40) ──►   taken   R(100)  S(16, cut)       flows  A ─► R, 100 bytes   B ─► S, 16 bytes
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "analysis/dataflow/calls_in_flight.h"
#include "analysis/dataflow/flow.h"

namespace dyetrace::analysis {

// A socket holds some hundred messages (net.unix.max_dgram_qlen, and what its buffer takes): more are of a reader that is not
// watched.
inline constexpr std::size_t kWaitingMessagesMax = 4096;

class MessageQueue {
  public:
    // act.offset is filled in: bytes of all messages before.
    void sent(Act act, std::uint64_t bytes, std::vector<Flow>& flows);
    void taken(Act act, std::uint64_t bytes, bool peeks, std::vector<Flow>& flows);
    void send_starts(std::uint64_t event) { sending_.starts(event); }
    void take_starts(std::uint64_t event) { taking_.starts(event); }

    // Messages that were left out, to stay within the limit.
    std::uint64_t forgotten() const { return forgotten_; }

  private:
    struct Message {
        Act act;
        std::uint64_t bytes;
    };
    void wait(std::deque<Message>& queue, Message message);

    std::deque<Message> sent_;   // not taken yet
    std::deque<Message> early_;  // taken before the call that sent them returned
    std::uint64_t sent_bytes_ = 0;
    std::uint64_t forgotten_ = 0;
    CallsInFlight sending_, taking_;
};

}  // namespace dyetrace::analysis
