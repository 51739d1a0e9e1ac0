// The memory of a BPF array that programs and this process share.
#pragma once

#include <bpf/libbpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mapping.h"

namespace dyetrace::capture {

inline Result<base::Mapping> map_array(const bpf_map* map) {
    const std::size_t value = (bpf_map__value_size(map) + std::size_t{7}) & ~std::size_t{7};
    const auto page = static_cast<std::size_t>(getpagesize());
    const std::size_t size = (value * bpf_map__max_entries(map) + page - 1) / page * page;
    return base::Mapping::make(size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
}

}  // namespace dyetrace::capture
