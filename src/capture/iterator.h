// Runs a BPF iterator: its program sees each task, or each open file, once.
//
//   TRY(run_iterator(skeleton.progs.mark_tasks));                      all there are
//   TRY(run_iterator(skeleton.progs.find_members, {.process = 42}));   those of one process
//
// Numbers are meant in this process's pid namespace.
#pragma once

#include <bpf/libbpf.h>
#include <sys/types.h>

#include <cstddef>
#include <vector>

#include "base/result.h"

namespace dyetrace::capture {

struct IteratorScope {
    pid_t process = 0;  // 0: all
    bool one_thread = false;
};

// What the program writes into the iterator's file is appended to `output`.
Result<void> run_iterator(const bpf_program* program,
                          IteratorScope scope = {},
                          std::vector<std::byte>* output = nullptr);

}  // namespace dyetrace::capture
