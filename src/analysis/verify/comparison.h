// Two strips that may hold the same content: which stretches are equal, and which are not.
//
//   reference   begin--A-----B------C----D--end
//   copy        begin--A-----B---x--C-y--D--end       A, B, C, D: common anchors in the same order
//                                |      |
//                             another sum: changed    another length: resized (bytes were put in or taken out)
//
// Common anchors are found by fingerprints that each strip has once, and around them by equal
// distance. Before the first and after the last one the strips are compared if as many bytes stand
// there in both, or where one of them begins or ends at a call of the other one.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/verify/strip.h"

namespace dyetrace::analysis {

enum class Outcome : std::uint8_t {
    kChanged,      // as many bytes, other ones
    kResized,      // another number of bytes
    kNotCompared,  // not all bytes are known, or nothing says where they are in the copy
};

// Bytes from one common place to the next; not those that are equal.
struct Stretch {
    std::uint64_t begin = 0, end = 0;            // in the reference
    std::uint64_t copy_begin = 0, copy_end = 0;  // in the copy; unknown: both 0
    Outcome outcome = Outcome::kNotCompared;
    std::uint64_t unknown_bytes = 0;  // of kNotCompared: that were moved in both
    // How many of the reference's bytes are in the copy around what was put in or taken out (put_in.h); unknown for kChanged.
    std::uint64_t same_bytes = 0;
    bool has_all() const { return same_bytes == end - begin; }
    // How many bytes more the copy has there; wraps around where it has fewer.
    std::uint64_t put_in() const { return (copy_end - copy_begin) - (end - begin); }
    friend bool operator==(const Stretch&, const Stretch&) = default;
};

struct StripComparison {
    std::vector<Stretch> stretches;  // by begin; what is in none of them is equal
    std::vector<std::pair<std::uint64_t, std::uint64_t>>
        places;                        // common ones: in the reference, in the copy
    std::uint64_t compared_bytes = 0;  // of the reference; equal or not
    std::uint64_t unknown_bytes = 0;   // of all stretches

    // Whether something was put in or taken out between some of the common places.
    bool is_shifted() const;
    // Whether the strips that were compared begin and end at common places.
    bool is_whole(const Strip& reference, const Strip& copy) const;
    // How many of the reference's bytes were compared and are not equal.
    std::uint64_t differing_bytes() const;
    // Whether bytes of the copy are known to be the same as in the reference.
    bool is_same(std::uint64_t copy_begin, std::uint64_t copy_end) const;
    // Where in the copy a byte of the reference should be.
    std::uint64_t place_of(std::uint64_t position) const;
};

StripComparison compare_strips(const Strip& reference, const Strip& copy);

}  // namespace dyetrace::analysis
