#include "analysis/dataflow/recall.h"

#include <utility>

namespace dyetrace::analysis {

void Recall::add(const Key& key, const Taken& taken) {
    const auto [entry, is_new] = young_.of_key.try_emplace(key, Layer{taken});
    Layer& last = entry->second;
    if (!is_new && last.taken.event == taken.event) {
        last.taken = taken;
        return;
    }
    ++young_.count;
    if (is_new) {
        return;
    }
    auto before = std::make_unique<Layer>(std::move(last));
    last = {taken, std::move(before)};
    Layer* oldest = &last;
    for (std::size_t layers = 1; layers < kTakensEach && oldest != nullptr; ++layers) {
        oldest = oldest->before.get();
    }
    if (oldest != nullptr && oldest->before != nullptr) {
        oldest->before.reset();
        --young_.count;
    }
}

void Recall::add(const Operation& operation, std::uint64_t key, const Taken& taken) {
    add(Key{operation.process, key, false}, taken);
    if (const std::uint64_t memory = ancestry_->memory_of(operation.process); memory != 0) {
        add(Key{memory, key, true}, taken);
    }
    if (young_.count >= taken_max_) {
        forgotten_ += old_.count;
        old_ = std::exchange(young_, {});
    }
}

std::optional<Taken> Recall::find(const Key& key,
                                  const Operation& operation,
                                  std::uint64_t until_ns) const {
    for (const Takens* takens : {&young_, &old_}) {
        const auto entry = takens->of_key.find(key);
        for (const Layer* layer = entry == takens->of_key.end() ? nullptr : &entry->second;
             layer != nullptr;
             layer = layer->before.get()) {
            if (layer->taken.end_ns <= until_ns && layer->taken.event != operation.event) {
                return layer->taken;
            }
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
