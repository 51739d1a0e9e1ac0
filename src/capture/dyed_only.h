// With --only-dyed: events wait here until it is known whether a dye ends in them, and the others go no further.
//
//   hold(events) ─► | write 7, part, dye_hit | read 8 | write 9 | …          keep(cpu, 8): a crossing ends in it
//   release(until) ─► write 7 with all that belongs to it, read 8            write 9 is left out, and counted
//
// Those of a CPU go on in their order; one that ended after `until` waits, and so does what follows it.
//
// Memory: what the rings held in two looks at them.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "schema/record.h"

namespace dyetrace::capture {

class DyedOnly {
  public:
    using Sink = std::function<void(std::uint32_t cpu, std::span<const std::byte> records)>;

    void hold(std::uint32_t cpu, std::span<const std::byte> events);
    void keep(std::uint32_t cpu, std::uint64_t sequence) { kept_.emplace(cpu, sequence); }
    void release(std::uint64_t until_ns, const Sink& sink);

    // Records of this CPU.
    std::uint64_t left_out(std::uint32_t cpu) const {
        return cpu < cpus_.size() ? cpus_[cpu].left_out : 0;
    }

  private:
    struct Cpu {
        std::vector<std::byte> held;
        std::uint64_t left_out = 0;
    };

    // An event with what belongs to it; empty: it ended later.
    std::span<const std::byte> first_group(std::span<const std::byte> held,
                                           std::uint64_t until_ns) const;
    bool is_dyed(std::uint32_t cpu, std::span<const std::byte> group) const;
    void release_cpu(std::uint32_t cpu, std::uint64_t until_ns, const Sink& sink);

    std::vector<Cpu> cpus_;
    std::set<std::pair<std::uint32_t, std::uint64_t>> kept_;  // cpu and sequence
};

}  // namespace dyetrace::capture
