// Sums of content (content/sum.h): the same that src/kernel/content/anchor.h computes, and what follows from them.
//
//   content_sum("hello world") == joined_sum(content_sum("hello "), content_sum("world"), 5)
//   sum_of_rest(content_sum("hello world"), content_sum("hello "), 5) == content_sum("world")
//
// Two contents of equal length and equal sum are taken for the same; a change within 7 bytes always gives another sum. Bytes of
// value 0 in front do not count: compare lengths, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "content/sum.h"

namespace dyetrace::content {

std::uint64_t content_sum(std::span<const std::byte> bytes);

// The sum of what `front` stands for, and after it `back`, which is so many bytes.
std::uint64_t joined_sum(std::uint64_t front, std::uint64_t back, std::uint64_t back_bytes);

// The sum of the last bytes of the whole: all but the front.
std::uint64_t sum_of_rest(std::uint64_t whole, std::uint64_t front, std::uint64_t back_bytes);

// The sum of the first bytes of the whole: all but the back.
std::uint64_t sum_of_front(std::uint64_t whole, std::uint64_t back, std::uint64_t back_bytes);

// Whether so many bytes, 4 at most, can have that sum: of other contents one in 2^(64 - 8 · bytes) looks so by chance.
bool may_be_sum_of(std::uint64_t sum, std::uint64_t bytes);

}  // namespace dyetrace::content
