// What the kernel looks for: two tables in its memory, of which it uses one while the other is written.
//
//   look_for(dyes) ─► table 1 ─► dye_table_in_use = 1          an event is looked at with one table from end to end
//   look_for(dyes) ─► (who still reads 0 ends) ─► table 0 ─► dye_table_in_use = 0
//
// Limits: those of DyeTable. Memory of the kernel: 2 tables of 8 MiB.
#pragma once

#include <memory>
#include <vector>

#include "base/mapping.h"
#include "base/result.h"
#include "capture/dye_table.h"

struct dyetrace_bpf;

namespace dyetrace::capture {

// Before loading: a recording without dyes has no tables.
void choose_dyes(dyetrace_bpf& skeleton, bool look_for_dyes);

class KernelDyes {
  public:
    // The skeleton must outlive it.
    static Result<KernelDyes> install(dyetrace_bpf& skeleton);

    // On failure what was looked for is looked for still.
    Result<void> look_for(std::vector<DyePattern> dyes);

    const DyeTable& table() const { return table_; }

  private:
    KernelDyes(dyetrace_bpf& skeleton, base::Mapping memory)
        : skeleton_(&skeleton), memory_(std::move(memory)) {}

    dyetrace_bpf* skeleton_;
    base::Mapping memory_;
    DyeTable table_;
};

}  // namespace dyetrace::capture
