// Makes the maps of generated programs.
#pragma once

#include <bpf/bpf.h>

#include <cstdint>

#include "base/fd.h"
#include "base/result.h"

namespace dyetrace::capture {

// `inner` is a map that those in it are like, or -1.
Result<base::Fd> make_map(bpf_map_type type,
                          const char* name,
                          std::uint32_t key_bytes,
                          std::uint32_t value_bytes,
                          std::uint32_t entries,
                          std::uint32_t flags = 0,
                          int inner = -1);

}  // namespace dyetrace::capture
