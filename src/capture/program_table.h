// Tables of BPF programs that go on in one another (BPF_MAP_TYPE_PROG_ARRAY).
#pragma once

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cerrno>
#include <cstdint>

#include "base/result.h"

namespace dyetrace::capture {

inline Result<void> put_program(bpf_map* table, std::uint32_t index, const bpf_program* program) {
    const int fd = bpf_program__fd(program);
    if (bpf_map_update_elem(bpf_map__fd(table), &index, &fd, BPF_ANY) != 0) {
        return base::Error::from_errno(errno, "cannot fill the table of BPF programs");
    }
    return {};
}

}  // namespace dyetrace::capture
