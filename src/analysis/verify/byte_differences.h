// Which bytes of a stretch are others in a copy, where the bytes themselves are known.
//
//   reference   61 62 63 64 65 66        changed: byte by byte      [1,2) 62 -> 78, [3,5) 64 65 -> 79 7a
//   copy        61 78 63 79 7a 66
//
//   reference   61 62 63 64              resized: what is left between the longest equal begin and end      [2,2) nothing -> 78
//   copy        61 62 78 63 64
//
// Limits: of kPlacesKept places kDifferenceBytesKept bytes are kept; all are counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/verify/comparison.h"

namespace dyetrace::analysis {

inline constexpr std::size_t kPlacesKept = 64;  // of a stretch
inline constexpr std::size_t kDifferenceBytesKept =
    32;  // of a place: a word or a pointer, and what is around it

struct ByteDifference {
    std::uint64_t begin = 0, end = 0;             // in the reference
    std::uint64_t copy_begin = 0, copy_end = 0;   // in the copy
    std::vector<std::byte> old_bytes, new_bytes;  // the first ones
};

struct ByteDifferences {
    std::vector<ByteDifference> places;  // by begin
    std::uint64_t places_left_out = 0;
    std::uint64_t old_bytes = 0, new_bytes = 0;  // in all places
};

// All bytes of a stretch that is changed or resized.
ByteDifferences byte_differences(const Stretch& stretch,
                                 std::span<const std::byte> reference,
                                 std::span<const std::byte> copy);

}  // namespace dyetrace::analysis
