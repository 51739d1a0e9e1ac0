// Where the kernel keeps its cache of names, which lets a call's path be looked up when the call ends (kernel/helpers/lookup.h).
//
// No symbol tells it. But an iterator shows entries of open files, each with its hash and with what points to it. Of the first in a
// bucket that is the bucket, at `buckets + (hash >> shift)`; so the right shift is the one for which most entries agree on `buckets`:
//
//   hash 0x8c1f0a77, pointed to at 0xffff888004630f80     shift 14 ──► buckets 0xffff888004200000, as 58 of 60 others say
//   hash 0x02b4e911, pointed to at 0xffff8880042056c8     shift 13 ──► as nobody else says
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "capture/capture.h"
#include "kernel/abi.h"

struct dyetrace_bpf;

namespace dyetrace::capture {

struct DirectoryCache {
    std::uint64_t buckets = 0;  // address
    std::uint32_t shift = 0;
};

// None if too few entries agree.
std::optional<DirectoryCache> cache_of(std::span<const directory_entry> entries);

// Finds it and tells the loaded programs; what `coverage` says of that.
Source find_directory_cache(dyetrace_bpf& skeleton);

}  // namespace dyetrace::capture
