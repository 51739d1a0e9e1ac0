#include "analysis/dataflow/recall.h"

#include <utility>

namespace dyetrace::analysis {

void Recall::add(const Operation& operation, std::uint64_t key, const Taken& taken) {
    young_.insert_or_assign(Key{operation.process, key, false}, taken);
    if (const std::uint64_t memory = ancestry_->memory_of(operation.process); memory != 0) {
        young_.insert_or_assign(Key{memory, key, true}, taken);
    }
    if (young_.size() >= taken_max_) {
        forgotten_ += old_.size();
        old_ = std::exchange(young_, {});
    }
}

std::optional<Taken> Recall::find(const Key& key,
                                  const Operation& operation,
                                  std::uint64_t until_ns) const {
    for (const Takens* takens : {&young_, &old_}) {
        const auto taken = takens->find(key);
        if (taken != takens->end() && taken->second.end_ns <= until_ns &&
            taken->second.event != operation.event) {
            return taken->second;
        }
    }
    return std::nullopt;
}

std::optional<Taken> Recall::find(const Operation& operation, std::uint64_t key) const {
    std::optional<Taken> result;
    ancestry_->climb(
        operation.process, operation.start_ns, [&](std::uint64_t process, std::uint64_t until_ns) {
            result = find(Key{process, key, false}, operation, until_ns);
            return result.has_value();
        });
    if (const std::uint64_t memory = ancestry_->memory_of(operation.process);
        !result && memory != 0) {
        result = find(Key{memory, key, true}, operation, operation.start_ns);
    }
    return result;
}

}  // namespace dyetrace::analysis
