#include "analysis/dataflow/anchor_memory.h"

#include <algorithm>

#include "content/anchor.h"

namespace dyetrace::analysis {
namespace {

// Bytes of a write that came from one read: at `begin` to `end` of the write lies what is `shift` further in the read.
struct Run {
    std::uint64_t event = 0, object = 0, object_begin = kUnknown;
    std::int64_t begin = 0, end = 0, shift = 0;
};

// The next run goes on in the object where this one was: their border is where the next read began.
void meet_at_border(Run& run, Run& next) {
    const bool follows = run.object == next.object && run.object_begin != kUnknown &&
                         next.object_begin != kUnknown &&
                         static_cast<std::int64_t>(run.object_begin) + run.shift ==
                             static_cast<std::int64_t>(next.object_begin) + next.shift;
    const std::int64_t border = -next.shift;
    if (follows && border >= run.begin && border <= next.end) {
        run.end = border;
        next.begin = border;
    }
}

Flow flow_of(const Run& run, const Act& act) {
    const auto from = static_cast<std::uint64_t>(run.begin + run.shift);
    const auto to = static_cast<std::uint64_t>(run.begin);
    return {.from_event = run.event,
            .to_event = act.event,
            .object = run.object,
            .to_object = act.object,
            .from_offset = run.object_begin == kUnknown ? kUnknown : run.object_begin + from,
            .to_offset = act.offset == kUnknown ? kUnknown : act.offset + to,
            .from_position = from,
            .to_position = to,
            .bytes = static_cast<std::uint64_t>(run.end - run.begin),
            .rule = schema::FlowRule::kAnchor,
            .certainty = schema::Certainty::kLikely};
}

}  // namespace

void AnchorMemory::read(const Operation& operation, const Act& act) {
    if (is_copy(operation)) {
        return;
    }
    for (const Anchor& anchor : operation.anchors) {
        recall_.add(
            operation,
            anchor.fingerprint,
            {act.event, act.object, act.offset, act.end_ns, anchor.position, ANCHOR_WINDOW});
    }
}

// A window that began in an earlier call is told from where this one begins.
void AnchorMemory::write(const Operation& operation,
                         const Act& act,
                         std::vector<Flow>& flows) const {
    if (is_copy(operation)) {
        return;
    }
    std::vector<Run> runs;
    for (const Anchor& anchor : operation.anchors) {
        const std::optional<Taken> seen = recall_.find(operation, anchor.fingerprint);
        if (!seen) {
            continue;
        }
        const std::int64_t shift = seen->position - anchor.position;
        const std::int64_t begin = std::max({anchor.position, std::int64_t{0}, -shift});
        const std::int64_t end = anchor.position + ANCHOR_WINDOW;
        if (!runs.empty() && runs.back().event == seen->event && runs.back().shift == shift) {
            runs.back().end = end;
            continue;
        }
        Run next{seen->event, seen->object, seen->begin, begin, end, shift};
        if (!runs.empty()) {
            meet_at_border(runs.back(), next);
        }
        runs.push_back(next);
    }
    for (const Run& run : runs) {
        if (run.begin < run.end) {
            flows.push_back(flow_of(run, act));
        }
    }
}

}  // namespace dyetrace::analysis
