// What the kernel looks for, and what becomes of the events that it has looked at.
//
//   look_for(dyes) ─► table 1 ─► dye_table_in_use = 1          an event is looked at with one table from end to end
//   look_for(dyes) ─► (who still reads 0 ends) ─► table 0 ─► dye_table_in_use = 0
//
//   ring ─► strip() ─► sink          without the first and last bytes, which stay for join()
//
// Limits: those of DyeTable and DyeBorders. Memory of the kernel: 2 tables of 8 MiB.
#pragma once

#include <memory>
#include <vector>

#include "base/mapping.h"
#include "base/result.h"
#include "capture/dye_join.h"
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

    void learn(std::span<const std::byte> facts) { join_.learn(facts); }
    // What goes on of these; valid until the next call.
    std::span<const std::byte> strip(std::uint32_t cpu, std::span<const std::byte> events);
    // Looks over the borders of what ended before; `lost` are all events that the rings have lost so far.
    void join(std::uint64_t until_ns, std::uint64_t lost);
    // What the last join() found.
    const std::vector<schema::DyeHit>& crossings() const { return join_.crossings(); }

  private:
    KernelDyes(dyetrace_bpf& skeleton, base::Mapping memory)
        : skeleton_(&skeleton), memory_(std::move(memory)) {}

    dyetrace_bpf* skeleton_;
    base::Mapping memory_;
    DyeTable table_;
    DyeJoin join_;
    std::vector<std::byte> stripped_;
    std::uint64_t lost_ = 0;
};

}  // namespace dyetrace::capture
