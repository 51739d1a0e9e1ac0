#include "analysis/dataflow/dye_memory.h"

#include <algorithm>

namespace dyetrace::analysis {
namespace {

// What began in an earlier call is told from where this one begins.
struct Part {
    std::uint64_t position, bytes;
};

Part part_of(std::int64_t position, std::uint64_t bytes) {
    const std::uint64_t before = position < 0 ? static_cast<std::uint64_t>(-position) : 0;
    return {position < 0 ? 0 : static_cast<std::uint64_t>(position),
            bytes - std::min(before, bytes)};
}

std::uint64_t moved_on(std::uint64_t begin, std::uint64_t position) {
    return begin == kUnknown ? kUnknown : begin + position;
}

}  // namespace

void DyeMemory::read(const Operation& operation, const Act& act) {
    if (is_copy(operation)) {
        return;
    }
    for (const DyeMark& mark : operation.dyes) {
        recall_.add(operation,
                    mark.dye,
                    {act.event, act.object, act.offset, act.end_ns, mark.position, mark.bytes});
    }
}

void DyeMemory::write(const Operation& operation, const Act& act, std::vector<Flow>& flows) const {
    if (is_copy(operation)) {
        return;
    }
    for (const DyeMark& mark : operation.dyes) {
        const std::optional<Taken> taken = recall_.find(operation, mark.dye);
        if (!taken) {
            continue;
        }
        const Part from = part_of(taken->position, taken->bytes);
        const Part to = part_of(mark.position, mark.bytes);
        if (from.bytes == 0 || to.bytes == 0) {
            continue;
        }
        flows.push_back({.from_event = taken->event,
                         .to_event = act.event,
                         .object = taken->object,
                         .to_object = act.object,
                         .from_offset = moved_on(taken->begin, from.position),
                         .to_offset = moved_on(act.offset, to.position),
                         .from_position = from.position,
                         .to_position = to.position,
                         .bytes = std::min(from.bytes, to.bytes),
                         .rule = schema::FlowRule::kDye,
                         .certainty = schema::Certainty::kLikely});
    }
}

}  // namespace dyetrace::analysis
