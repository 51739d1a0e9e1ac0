// Which memory processes share when a recording begins.
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/result.h"
#include "capture/iterator.h"
#include "schema/generated/records.h"

namespace dyetrace::capture {

// Runs the program find_shared_memory of src/kernel/programs/memory.bpf.c. Appends one fact per process and file to `found`.
Result<void> find_shared_memory(const bpf_program* program,
                                IteratorScope scope,
                                std::vector<schema::SharedMapping>& found);

// Whether a process has attached segments of System V (shmat), which leave no trace while they are used.
bool has_segments(pid_t process);
// The same of anybody in this IPC namespace; of others only their own processes know.
bool has_segments();

}  // namespace dyetrace::capture
