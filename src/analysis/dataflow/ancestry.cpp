#include "analysis/dataflow/ancestry.h"

#include <algorithm>
#include <set>
#include <utility>

namespace dyetrace::analysis {
namespace {

// Memories that belong together because one process has both.
class JoinedMemories {
  public:
    std::uint64_t root(std::uint64_t memory) {
        std::uint64_t* above = &above_.try_emplace(memory, memory).first->second;
        while (*above != memory) {
            memory = *above;
            above = &above_.at(memory);
            *above = above_.at(*above);  // halves the way of the next one
        }
        return memory;
    }
    void join(std::uint64_t a, std::uint64_t b) { above_[root(a)] = root(b); }

  private:
    std::unordered_map<std::uint64_t, std::uint64_t> above_;
};

// Hands each memory on from who mapped it to those that they made, until a new program was started, which has nothing of it.
class Inheritance {
  public:
    explicit Inheritance(const Lineage& lineage) : waiting_(lineage.memories) {
        for (const ProcessLink& link : lineage.processes) {
            if (link.process != link.parent) {
                children_[link.parent].push_back(link);
            }
        }
        for (const ProgramStart& start : lineage.programs) {
            programs_[start.process].insert(start.ns);
        }
        // the earliest are taken first: who has a memory longest has most heirs
        std::sort(waiting_.begin(), waiting_.end(), [](const MemoryLink& a, const MemoryLink& b) {
            return a.since_ns > b.since_ns;
        });
    }

    std::unordered_map<std::uint64_t, std::uint64_t> by_process() {
        while (!waiting_.empty()) {
            const MemoryLink link = waiting_.back();
            waiting_.pop_back();
            if (seen_.emplace(link.process, link.memory).second) {
                take(link);
            }
        }
        std::unordered_map<std::uint64_t, std::size_t> members;
        for (auto& [process, memory] : memories_) {
            memory = joined_.root(memory);
            ++members[memory];
        }
        std::erase_if(memories_, [&](const auto& entry) { return members[entry.second] == 1; });
        return std::move(memories_);
    }

  private:
    void take(const MemoryLink& link) {
        const std::uint64_t until_ns = next_program(link.process, link.since_ns);
        if (until_ns == kUnknown) {
            const auto [mine, is_new] = memories_.try_emplace(link.process, link.memory);
            if (!is_new) {
                joined_.join(mine->second, link.memory);
            }
        }
        const auto children = children_.find(link.process);
        if (children == children_.end()) {
            return;
        }
        for (const ProcessLink& child : children->second) {
            if (child.start_ns >= link.since_ns && child.start_ns < until_ns) {
                waiting_.push_back({child.process, link.memory, child.start_ns});
            }
        }
    }

    std::uint64_t next_program(std::uint64_t process, std::uint64_t since_ns) const {
        const auto programs = programs_.find(process);
        if (programs == programs_.end()) {
            return kUnknown;
        }
        const auto next = programs->second.upper_bound(since_ns);
        return next == programs->second.end() ? kUnknown : *next;
    }

    std::vector<MemoryLink> waiting_;
    std::unordered_map<std::uint64_t, std::vector<ProcessLink>> children_;
    std::unordered_map<std::uint64_t, std::set<std::uint64_t>> programs_;  // when it started them
    std::set<std::pair<std::uint64_t, std::uint64_t>> seen_;               // process, memory
    std::unordered_map<std::uint64_t, std::uint64_t> memories_;
    JoinedMemories joined_;
};

}  // namespace

Ancestry::Ancestry(const Lineage& lineage) : memories_(Inheritance(lineage).by_process()) {
    for (const ProcessLink& link : lineage.processes) {
        parents_.emplace(link.process, link);
    }
}

std::uint64_t Ancestry::memory_of(std::uint64_t process) const {
    const auto memory = memories_.find(process);
    return memory == memories_.end() ? 0 : memory->second;
}

}  // namespace dyetrace::analysis
