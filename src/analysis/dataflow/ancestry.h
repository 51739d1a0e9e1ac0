// Who may know what a process knows: the process, those that made it, until the moment when they did, and those that share
// memory with it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/dataflow/operation.h"

namespace dyetrace::analysis {

// A shell below a shell below a session has a few.
inline constexpr int kAncestorsMax = 16;

class Ancestry {
  public:
    explicit Ancestry(const Lineage& lineage);

    // Calls visit(process, until_ns), from the process itself to its oldest ancestor, until one gives true.
    template <typename Visit>
    void climb(std::uint64_t process, std::uint64_t until_ns, Visit&& visit) const {
        for (int generation = 0; generation < kAncestorsMax; ++generation) {
            if (visit(process, until_ns)) {
                return;
            }
            const auto link = parents_.find(process);
            if (link == parents_.end() || link->second.parent == 0) {
                return;
            }
            until_ns = until_ns < link->second.start_ns ? until_ns : link->second.start_ns;
            process = link->second.parent;
        }
    }

    // Processes that share memory, whichever part of it, have the same number, which is not 0. Once
    // shared, it counts as shared from the beginning.
    std::uint64_t memory_of(std::uint64_t process) const;

  private:
    std::unordered_map<std::uint64_t, ProcessLink> parents_;     // by child
    std::unordered_map<std::uint64_t, std::uint64_t> memories_;  // by process
};

}  // namespace dyetrace::analysis
