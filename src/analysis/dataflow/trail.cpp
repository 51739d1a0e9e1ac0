#include "analysis/dataflow/trail.h"

#include <algorithm>
#include <utility>

#include "analysis/dataflow/content_memory.h"

namespace dyetrace::analysis {
namespace {

// 0: its bytes are not known, or so few that they are equal by chance.
std::uint64_t whole_key(const Operation& operation) {
    return operation.fingerprint && operation.bytes >= kHashBytesMin ? content_key(operation) | 1
                                                                     : 0;
}

}  // namespace

Trail::Trail(std::vector<TrailFlow> flows, Direction direction, std::size_t steps_max)
    : flows_(std::move(flows)), direction_(direction), steps_max_(steps_max) {
    std::sort(flows_.begin(), flows_.end(), [&](const TrailFlow& a, const TrailFlow& b) {
        return near_of(a) < near_of(b);
    });
}

std::uint64_t Trail::near_of(const TrailFlow& flow) const {
    return is_forward() ? flow.from_event : flow.to_event;
}

void Trail::offer(const Operation& operation) {
    const bool forward = is_forward();
    const bool takes = operation.from.object != 0, gives = operation.to.object != 0;
    if (operation.bytes == 0) {
        return;
    }
    Act act{.process = operation.process, .place = met_.place_of(operation)};
    if (takes == gives) {
        acts_.emplace(operation.event, act);
        return;  // a copy inside the kernel passes nothing through the process
    }
    act.time_ns = takes ? operation.end_ns : operation.start_ns;
    act.passes_on = takes == forward;
    act.key = whole_key(operation);
    act.anchors = operation.anchors;
    acts_.emplace(operation.event, act);
    if (!act.passes_on) {
        const std::uint64_t offset = takes ? operation.from.offset : operation.to.offset;
        process_moves_[operation.process].push_back(
            {operation.event, act.time_ns, operation.bytes, offset});
    }
}

void Trail::meet(ReachedContent::Place place, const Act& act) {
    if (act.key != 0) {
        met_.meet(place, act.key);
    }
    for (const Anchor& anchor : act.anchors) {
        met_.meet(place, anchor.fingerprint);
    }
}

ReachedContent::Place Trail::place_of(std::uint64_t event) const {
    const auto act = acts_.find(event);
    return act == acts_.end() ? ReachedContent::kStart : act->second.place;
}

// What is done next to `near`.
std::optional<schema::FlowRule> Trail::came_back(std::uint64_t event,
                                                 ReachedContent::Place near) const {
    const Act& act = acts_.at(event);
    if (act.key != 0 && met_.has_met(near, act.key)) {
        return schema::FlowRule::kHash;
    }
    const bool has_one =
        std::any_of(act.anchors.begin(), act.anchors.end(), [&](const Anchor& anchor) {
            return met_.has_met(near, anchor.fingerprint);
        });
    return has_one ? std::optional(schema::FlowRule::kAnchor) : std::nullopt;
}

void Trail::start(const TrailPiece& piece) {
    if (const auto act = acts_.find(piece.event); act != acts_.end()) {
        met_.lead(ReachedContent::kStart, act->second.place);
        meet(ReachedContent::kStart, act->second);
    }
    reach(piece);
}

void Trail::reach(const TrailPiece& piece) {
    for (const auto& [begin, end] : add_reached(piece)) {
        waiting_.push_back({piece.event, begin, end});
    }
}

std::uint64_t Trail::bytes_reached(std::uint64_t event) const {
    std::uint64_t bytes = 0;
    if (const auto reached = reached_.find(event); reached != reached_.end()) {
        for (const auto& [begin, end] : reached->second) {
            bytes += end - begin;
        }
    }
    return bytes;
}

// The parts of it that were not reached before.
Trail::Ranges Trail::add_reached(const TrailPiece& piece) {
    Ranges& reached = reached_[piece.event];
    Ranges fresh, merged;
    std::uint64_t at = piece.begin;
    std::pair<std::uint64_t, std::uint64_t> whole{piece.begin, piece.end};
    for (const auto& range : reached) {
        if (range.second < piece.begin || range.first > piece.end) {
            merged.push_back(range);
            continue;
        }
        if (at < range.first) {
            fresh.emplace_back(at, range.first);
        }
        at = std::max(at, range.second);
        whole = {std::min(whole.first, range.first), std::max(whole.second, range.second)};
    }
    if (at < piece.end) {
        fresh.emplace_back(at, piece.end);
    }
    merged.insert(std::upper_bound(merged.begin(), merged.end(), whole), whole);
    reached = std::move(merged);
    return fresh;
}

void Trail::add_step(const TrailStep& step, std::uint64_t far_position) {
    steps_.push_back(step);
    const auto far = acts_.find(step.far_event);
    if (far != acts_.end() && !has_reached(step.far_event)) {
        met_.lead(place_of(step.near_event), far->second.place);
        meet(far->second.place, far->second);
    }
    reach({step.far_event, far_position, far_position + step.bytes});
}

void Trail::follow_flows(const TrailPiece& piece) {
    const bool forward = is_forward();
    auto flow = std::lower_bound(
        flows_.begin(), flows_.end(), piece.event, [&](const TrailFlow& f, std::uint64_t event) {
            return near_of(f) < event;
        });
    for (; flow != flows_.end() && near_of(*flow) == piece.event; ++flow) {
        const std::uint64_t near = forward ? flow->from_position : flow->to_position;
        const std::uint64_t far = forward ? flow->to_position : flow->from_position;
        const std::uint64_t begin = std::max<std::uint64_t>(piece.begin, near);
        const std::uint64_t end = std::min<std::uint64_t>(piece.end, near + flow->bytes);
        if (begin >= end) {
            continue;
        }
        const std::uint64_t far_object = forward ? flow->to_offset : flow->from_offset;
        add_step({.near_event = piece.event,
                  .far_event = forward ? flow->to_event : flow->from_event,
                  .far_offset = far_object == kUnknown ? kUnknown : far_object + (begin - near),
                  .bytes = end - begin,
                  .rule = flow->rule,
                  .certainty = flow->certainty},
                 far + (begin - near));
    }
}

// Whatever the process did on the other side of the moment; each is taken away, for it need not be reached twice.
void Trail::follow_process_moves(const TrailPiece& piece, const Moment& moment) {
    const auto found = process_moves_.find(moment.process);
    if (found == process_moves_.end()) {
        return;
    }
    std::vector<ProcessMove>& moves = found->second;
    const auto first =
        std::lower_bound(moves.begin(),
                         moves.end(),
                         moment.time_ns,
                         [&](const ProcessMove& d, std::uint64_t time_ns) {
                             return is_forward() ? d.time_ns < time_ns : d.time_ns > time_ns;
                         });
    const std::vector<ProcessMove> reached(first, moves.end());
    moves.erase(first, moves.end());
    for (const ProcessMove& move : reached) {
        if (!has_reached(move.event)) {
            const auto rule = came_back(move.event, place_of(piece.event));
            add_step(
                {.near_event = piece.event,
                 .far_event = move.event,
                 .far_offset = move.offset,
                 .bytes = move.bytes,
                 .rule = rule.value_or(schema::FlowRule::kProcess),
                 .certainty = rule ? schema::Certainty::kLikely : schema::Certainty::kPossible},
                0);
        }
    }
}

void Trail::follow_process(const TrailPiece& piece) {
    const Act& act = acts_.at(piece.event);
    const bool forward = is_forward();
    std::vector<Moment> moments{{act.process, act.time_ns}};
    while (!moments.empty()) {
        const Moment moment = moments.back();
        moments.pop_back();
        follow_process_moves(piece, moment);
        const auto [first, last] = relatives_.equal_range(moment.process);
        for (auto relative = first; relative != last; ++relative) {
            const ProcessLink& link = relative->second;
            if (!forward) {
                moments.push_back({link.parent, std::min(moment.time_ns, link.start_ns)});
            } else if (link.start_ns >= moment.time_ns) {
                moments.push_back({link.process, link.start_ns});
            }
        }
    }
}

void Trail::prepare() {
    for (auto& [process, moves] : process_moves_) {
        std::sort(moves.begin(), moves.end(), [&](const ProcessMove& a, const ProcessMove& b) {
            return is_forward() ? a.time_ns < b.time_ns : a.time_ns > b.time_ns;
        });
    }
    for (const ProcessLink& link : links_) {
        if (link.parent != 0 && link.parent != link.process) {
            relatives_.emplace(is_forward() ? link.parent : link.process, link);
        }
    }
}

void Trail::walk() {
    prepare();
    // flows first, all of them: what they reach is not said to be only possible
    std::deque<TrailPiece> done;
    while (!waiting_.empty() || !done.empty()) {
        if (steps_.size() >= steps_max_) {
            is_cut_ = true;
            return;
        }
        if (!waiting_.empty()) {
            const TrailPiece piece = waiting_.front();
            waiting_.pop_front();
            follow_flows(piece);
            if (const auto act = acts_.find(piece.event);
                act != acts_.end() && act->second.passes_on) {
                done.push_back(piece);
            }
        } else {
            const TrailPiece piece = done.front();
            done.pop_front();
            follow_process(piece);
        }
    }
}

}  // namespace dyetrace::analysis
