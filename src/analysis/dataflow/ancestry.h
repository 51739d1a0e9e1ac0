// Who may know what a process knows: the process, and those that made it, until the moment when they did.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/dataflow/operation.h"

namespace dyetrace::analysis {

// A shell below a shell below a session has a few.
inline constexpr int kAncestorsMax = 16;

class Ancestry {
  public:
    explicit Ancestry(const std::vector<ProcessLink>& processes) {
        for (const ProcessLink& link : processes) {
            parents_.emplace(link.process, link);
        }
    }

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
            until_ns = std::min(until_ns, link->second.start_ns);
            process = link->second.parent;
        }
    }

  private:
    std::unordered_map<std::uint64_t, ProcessLink> parents_;  // by child
};

}  // namespace dyetrace::analysis
