#include "analysis/dataflow/content_memory.h"

namespace dyetrace::analysis {
namespace {

bool has_content(const Operation& operation) {
    return operation.fingerprint && operation.bytes >= kHashBytesMin && !is_copy(operation);
}

// Of the fingerprint and the length.
std::uint64_t key_of(const Operation& operation) {
    return *operation.fingerprint ^ operation.bytes * 0x9e3779b97f4a7c15u;
}

}  // namespace

void ContentMemory::read(const Operation& operation, const Act& act) {
    if (has_content(operation)) {
        recall_.add(operation,
                    key_of(operation),
                    {act.event, act.object, act.begin, act.end_ns, 0, operation.bytes});
    }
}

bool ContentMemory::write(const Operation& operation,
                          const Act& act,
                          std::vector<Flow>& flows) const {
    if (!has_content(operation)) {
        return false;
    }
    const std::optional<Taken> read = recall_.find(operation, key_of(operation));
    if (!read) {
        return false;
    }
    flows.push_back({.from_event = read->event,
                     .to_event = act.event,
                     .object = read->object,
                     .to_object = act.object,
                     .from_begin = read->begin,
                     .to_begin = act.begin,
                     .bytes = operation.bytes,
                     .rule = schema::FlowRule::kHash,
                     .certainty = schema::Certainty::kLikely});
    return true;
}

}  // namespace dyetrace::analysis
