#include "analysis/dataflow/content_memory.h"

namespace dyetrace::analysis {
namespace {

bool has_content(const Operation& operation) {
    return operation.fingerprint && operation.bytes >= kHashBytesMin && !is_copy(operation);
}

}  // namespace

void ContentMemory::read(const Operation& operation, const Act& act) {
    if (has_content(operation)) {
        recall_.add(operation,
                    content_key(operation),
                    {act.event, act.object, act.offset, act.end_ns, 0, operation.bytes});
    }
}

bool ContentMemory::write(const Operation& operation,
                          const Act& act,
                          std::vector<Flow>& flows) const {
    if (!has_content(operation)) {
        return false;
    }
    const std::optional<Taken> read = recall_.find(operation, content_key(operation));
    if (!read) {
        return false;
    }
    flows.push_back({.from_event = read->event,
                     .to_event = act.event,
                     .object = read->object,
                     .to_object = act.object,
                     .from_offset = read->begin,
                     .to_offset = act.offset,
                     .bytes = operation.bytes,
                     .rule = schema::FlowRule::kHash,
                     .certainty = schema::Certainty::kLikely});
    return true;
}

}  // namespace dyetrace::analysis
