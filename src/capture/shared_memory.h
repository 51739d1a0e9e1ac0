// Which memory processes share when a recording begins.
#pragma once

#include <vector>

#include "base/result.h"
#include "capture/iterator.h"
#include "schema/generated/records.h"

namespace dyetrace::capture {

// With the program find_shared_memory of src/kernel/programs/memory.bpf.c. Puts one fact per process and file behind `found`.
Result<void> find_shared_memory(const bpf_program* program,
                                IteratorScope scope,
                                std::vector<schema::SharedMapping>& found);

}  // namespace dyetrace::capture
