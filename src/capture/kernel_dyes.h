// What the kernel looks for, and what becomes of the events that it has looked at.
//
//   look_for(dyes) ─► table 1 ─► dye_table_in_use = 1          an event is looked at with one table from end to end
//   look_for(dyes) ─► (who still reads 0 ends) ─► table 0 ─► dye_table_in_use = 0
//
//   ring ─► pass_on() ─► sink        without the first and last bytes, which stay for join(); with only_dyed not before join()
//
// A recording with anchors and no dyes uses only what comes after the ring.
//
// Limits: those of DyeTable and DyeBorders. Memory of the kernel: 2 tables of 8 MiB.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/mapping.h"
#include "base/result.h"
#include "capture/dye_join.h"
#include "capture/dye_table.h"
#include "capture/dyed_only.h"

struct dyetrace_bpf;

namespace dyetrace::capture {

// Before loading: a recording without dyes has no tables.
void choose_dyes(dyetrace_bpf& skeleton, bool look_for_dyes, bool only_dyed);

class KernelDyes {
  public:
    // The skeleton must outlive it.
    static Result<KernelDyes> install(dyetrace_bpf& skeleton, bool only_dyed);

    // Before look_for().
    void look_for_anchors(content::AnchorRule rule) { table_.look_for_anchors(rule); }
    // On failure what was looked for is looked for still.
    Result<void> look_for(std::vector<DyePattern> dyes);

    void learn(std::span<const std::byte> facts) { join_.learn(facts); }
    // Hands out what goes on of these.
    void pass_on(std::uint32_t cpu, std::span<const std::byte> events, const DyedOnly::Sink& sink);
    // Looks over the borders of what ended before; `lost` are all events that the rings have lost so far.
    void join(std::uint64_t until_ns, std::uint64_t lost, const DyedOnly::Sink& sink);
    // Records of hits of this dye that were handed out so far.
    std::uint64_t hits(std::uint32_t dye) const { return join_.hits(dye); }
    // What of the search was not done, for `coverage`; nothing: all was.
    std::string lack() const;
    // Records of this CPU, because they carry no dye.
    std::uint64_t left_out(std::uint32_t cpu) const { return only_ ? only_->left_out(cpu) : 0; }
    // Occurrences over the border of two calls, as far as the last drain() found them; their events may have come with an
    // earlier one.
    std::span<const schema::DyeHit> crossings() const { return join_.crossings(); }
    std::span<const schema::Anchor> anchor_crossings() const { return join_.anchor_crossings(); }

  private:
    KernelDyes(dyetrace_bpf& skeleton, std::optional<base::Mapping> memory)
        : skeleton_(&skeleton), memory_(std::move(memory)) {}

    dyetrace_bpf* skeleton_;
    std::optional<base::Mapping> memory_;  // the kernel's tables; none if it looks for no dyes
    DyeTable table_;
    DyeJoin join_;
    std::optional<DyedOnly> only_;
    std::vector<std::byte> stripped_;
    std::uint64_t lost_ = 0;
};

}  // namespace dyetrace::capture
