// What `dyetrace cat` writes, worked out from what moved and where its payload is.
//
//   file     moves in the order of time, later ones over earlier ones; a write whose payload is missing makes a hole; where the
//            file was shorter after a call nobody knows what is there, until something is written; ftruncate makes zeros
//   stream   moves by their place in the stream, or in the order of time where there is none; each byte once
//
//   move 1   AAAAAAAA            what a file's plan says of it:  AABBBB··CC
//   move 2     BBBB··            (· a hole: nobody has seen these bytes)
//   move 3           CC
//
// Memory: some 100 bytes per stretch of payload.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "query/payload/trace_payload.h"

namespace dyetrace::reports {

struct CatMove {
    bool is_inbound = false;
    std::optional<std::uint64_t> offset;      // in the file or stream
    std::uint64_t bytes = 0;                  // 0: the call only tells the size
    std::optional<std::uint64_t> size_after;  // of the file
    bool is_truncate = false;                 // what the file grows by is zeros
    std::vector<query::PayloadPart> parts;
};

// A stretch of the output; without a part it is a hole, or zeros that were never written.
struct CatStretch {
    std::uint64_t begin = 0, bytes = 0;      // in the file or stream
    std::optional<query::PayloadPart> part;  // whose bytes they are; its position is of no use here
    bool is_zeros = false;

    bool is_hole() const { return !part && !is_zeros; }
};

// The plan reaches from 0 to the size that the file had last.
std::vector<CatStretch> plan_file(const std::vector<CatMove>& moves);

// The plan begins at the first byte that moved. With offsets a move without one (MSG_PEEK) is left out.
std::vector<CatStretch> plan_stream(std::vector<CatMove> moves);

// What of it is from `from` on and before `to`; of a stream `from` counts from its first byte.
std::vector<CatStretch> part_of(const std::vector<CatStretch>& plan,
                                std::uint64_t from,
                                std::uint64_t to);

}  // namespace dyetrace::reports
