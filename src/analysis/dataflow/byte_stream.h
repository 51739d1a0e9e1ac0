// One direction of a pipe, a unix socket or a TCP connection: bytes that one end puts in and the other end takes out once.
//
//   written     0 ── A ── 4096 ──── B ──── 12288          flows  A[0,4096) ─► R[0,4096)   B[4096,8192) ─► R[4096,8192)
//   taken       0 ────── R ────── 8192 ── S …             left   B[8192,12288), for S
//
// A call may return after the call that took its bytes: what was taken too early waits for its writer.
//
// A stream that is older than the recording, or of which calls may be missing, has its count right all the same where a call leaves nothing in
// it and as much was taken as was put: what was there before, or what others put, would have been taken too. Others who take as much as they put
// leave no mark in the sum: where there may be such, the calls are told as uncertain (Side::certain).
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "analysis/dataflow/calls_in_flight.h"
#include "analysis/dataflow/extent_map.h"
#include "analysis/dataflow/operation.h"

namespace dyetrace::analysis {

// Looks at bytes whose writer has not returned yet: a race of two calls, so few at a time.
inline constexpr std::size_t kEarlyPeeksMax = 16;

class ByteStream {
  public:
    explicit ByteStream(ExtentPool& pool) : sent_(pool), early_(pool) {}

    // These two are for streams that number their bytes (TCP): act.offset is the position. Flows are added to `flows`.
    void sent(const Act& act, std::uint64_t bytes, schema::FlowRule rule, std::vector<Flow>& flows);
    void taken(const Act& act,
               std::uint64_t bytes,
               bool peeks,
               schema::FlowRule rule,
               std::vector<Flow>& flows);

    // These two are for streams that do not: calls come in the order of their ends. act.offset is filled in. Bytes may be 0, of a call
    // that found nothing.
    void send_next(Act act,
                   std::uint64_t bytes,
                   const Side& side,
                   schema::FlowRule rule,
                   std::vector<Flow>& flows);
    // Returns the position of the first byte.
    std::uint64_t take_next(Act act,
                            std::uint64_t bytes,
                            const Side& side,
                            schema::FlowRule rule,
                            std::vector<Flow>& flows);
    void send_starts(std::uint64_t event) { sending_.starts(event); }
    void take_starts(std::uint64_t event) { taking_.starts(event); }
    // A call moved nobody knows how much: from here on positions are a guess, until the stream is seen empty.
    void lose_count(std::uint64_t event);

    std::uint64_t sent_bytes() const { return sent_bytes_; }

    // These do what those of ExtentMap do.
    void add_reached(std::vector<std::uint64_t>& reached, bool those_away) const;
    void put_away_before(std::uint64_t reached);
    void forget_before(std::uint64_t reached);

  private:
    void begin_anew();
    void skip_what_others_put(std::uint64_t start_ns);

    struct Peek {
        Act act;
        std::uint64_t begin, end;
    };

    ExtentMap sent_;   // not taken yet
    ExtentMap early_;  // taken, the writer is not known yet
    std::deque<Peek> early_peeks_;
    std::uint64_t sent_bytes_ = 0;
    std::uint64_t taken_bytes_ = 0;
    std::uint64_t last_sent_ns_ = 0;  // when the last call that put some ended
    bool counted_ = true;
    CallsInFlight sending_, taking_;
};

}  // namespace dyetrace::analysis
