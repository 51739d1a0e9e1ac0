#include "analysis/causality/happened_before.h"

#include <vector>

namespace dyetrace::analysis {
namespace {

// The same edges, seen from the end of time.
std::vector<CauseEdge> mirrored(std::span<const CauseEdge> edges) {
    std::vector<CauseEdge> turned;
    turned.reserve(edges.size());
    for (const CauseEdge& edge : edges) {
        turned.push_back({.from_event = edge.to_event,
                          .from_thread = edge.to_thread,
                          .from_at = ~edge.to_at,
                          .to_event = edge.from_event,
                          .to_thread = edge.from_thread,
                          .to_at = ~edge.from_at,
                          .from_rank = ~edge.to_rank,
                          .to_rank = ~edge.from_rank,
                          .rule = edge.rule});
    }
    return turned;
}

bool in_thread(const EventPlace& a, const EventPlace& b) {
    return a.end < b.begin ||
           (a.end == b.begin && (a.begin < b.begin || b.begin < b.end || a.event < b.event));
}

}  // namespace

HappenedBefore::HappenedBefore(std::span<const CauseEdge> edges)
    : back_(edges), ahead_(mirrored(edges)) {}

bool HappenedBefore::between(const EventPlace& a, const EventPlace& b) const {
    if (a.thread == b.thread) {
        return in_thread(a, b);
    }
    const std::uint32_t from = ahead_.number_of(a.thread), to = back_.number_of(b.thread);
    if (from == CauseIndex::kNoThread || to == CauseIndex::kNoThread) {
        return false;
    }
    // What leaves a's thread first from its begin on: nothing of a lower rank comes from a.
    const std::uint64_t* const rank = ahead_.last_rank(from, ~a.begin);
    return rank != nullptr && back_.reaches(to, b.end, back_.number_of(a.thread), a.begin, ~*rank);
}

Cone HappenedBefore::before(const EventPlace& event) const {
    const std::uint32_t thread = back_.number_of(event.thread);
    return {event, thread == CauseIndex::kNoThread ? Past() : back_.past_of(thread, event.end)};
}

Cone HappenedBefore::after(const EventPlace& event) const {
    const std::uint32_t thread = ahead_.number_of(event.thread);
    return {event, thread == CauseIndex::kNoThread ? Past() : ahead_.past_of(thread, ~event.begin)};
}

bool HappenedBefore::in_past(const EventPlace& event, const Cone& before) const {
    if (event.thread == before.of.thread) {
        return in_thread(event, before.of);
    }
    const std::uint32_t thread = back_.number_of(event.thread);
    return thread < before.moments.size() && before.moments[thread] > event.begin;
}

bool HappenedBefore::in_future(const EventPlace& event, const Cone& after) const {
    if (event.thread == after.of.thread) {
        return in_thread(after.of, event);
    }
    const std::uint32_t thread = ahead_.number_of(event.thread);
    return thread < after.moments.size() && after.moments[thread] > ~event.end;
}

}  // namespace dyetrace::analysis
