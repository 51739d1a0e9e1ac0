// Records as what differs from an earlier record of their kind: a loop of calls changes its sequence number, its times and
// little else. It costs a tenth of what zstd would take to find that out, and leaves zstd a tenth of the bytes.
//
//   u32 size of the heads | heads, one record after another | tails, one after another
//
//   head   slot (u8), words of the record (varint), a bit for each of its first kHeadWords words that differs from the same
//          word of the last record in that slot (LSB first, whole bytes), and for each of these the difference
//          (zigzag, varint; modulo 2^64)
//   tail   the words after the first kHeadWords, as they are: names, which zstd knows best
//
// A slot is empty at first: all its words are 0; so are those after the end of a shorter record. Which slot a record takes is
// the writer's choice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace dyetrace::trace {

inline constexpr std::size_t kHeadWords = 24;  // of a syscall_event without attachments

// Bytes at the front of `buffer`, which grows to what is needed and is not cleared; 0 if `raw` is not whole records.
std::size_t encode_delta(std::span<const std::byte> raw, std::vector<std::byte>& buffer);

// More than that is nothing that encode_delta made.
inline constexpr std::size_t delta_size_max(std::size_t raw_size) {
    return 64 + 2 * raw_size;
}

// Fills exactly `raw`; anything else is kCorrupt.
Result<void> decode_delta(std::span<const std::byte> encoded, std::span<std::byte> raw);

}  // namespace dyetrace::trace
