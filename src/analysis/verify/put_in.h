// Bytes that were put in between others by calls of their own, as a program frames what it passes on: write(head), write(data), write(head), …
//
//   shorter   A----------x--------B
//   longer    A----------|++++|--------B      a call ends at x in both, and what is put in was moved by whole calls
//
// Where a call moved frames and data together nothing shows which of its bytes are which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "analysis/verify/strip.h"

namespace dyetrace::analysis {

inline constexpr std::size_t kCutsMax = 256;  // in both; of more nothing is known

// Both from one common place to the next one, or to an end of the strip. How many bytes of the shorter stretch are in the longer one as well, in the same order.
std::uint64_t bytes_in_both(std::span<const Cut> shorter, std::span<const Cut> longer);

}  // namespace dyetrace::analysis
