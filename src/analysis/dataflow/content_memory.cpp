#include "analysis/dataflow/content_memory.h"

#include <utility>

namespace dyetrace::analysis {
namespace {

// What the kernel copied from one object to another one did not pass through the process.
bool has_content(const Operation& operation) {
    const bool is_copy = operation.from.object != 0 && operation.to.object != 0;
    return operation.fingerprint && operation.bytes >= kHashBytesMin && !is_copy;
}

}  // namespace

void ContentMemory::read(const Operation& operation, const Act& act) {
    if (!has_content(operation)) {
        return;
    }
    young_.insert_or_assign(Key{operation.process, *operation.fingerprint, operation.bytes}, act);
    if (young_.size() >= reads_max_) {
        forgotten_ += old_.size();
        old_ = std::exchange(young_, {});
    }
}

const Act* ContentMemory::find(const Key& key) const {
    for (const Reads* reads : {&young_, &old_}) {
        if (const auto found = reads->find(key); found != reads->end()) {
            return &found->second;
        }
    }
    return nullptr;
}

bool ContentMemory::write(const Operation& operation,
                          const Act& act,
                          std::vector<Flow>& flows) const {
    if (!has_content(operation)) {
        return false;
    }
    bool found = false;
    ancestry_->climb(
        operation.process, operation.start_ns, [&](std::uint64_t process, std::uint64_t until_ns) {
            const Act* const read = find({process, *operation.fingerprint, operation.bytes});
            found = read != nullptr && read->end_ns <= until_ns && read->event != act.event;
            if (found) {
                flows.push_back({.from_event = read->event,
                                 .to_event = act.event,
                                 .object = read->object,
                                 .to_object = act.object,
                                 .from_begin = read->begin,
                                 .to_begin = act.begin,
                                 .bytes = operation.bytes,
                                 .rule = schema::FlowRule::kHash,
                                 .certainty = schema::Certainty::kLikely});
            }
            return found;
        });
    return found;
}

}  // namespace dyetrace::analysis
