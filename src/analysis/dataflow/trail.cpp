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
    if (operation.bytes == 0 || takes == gives) {
        return;  // a copy inside the kernel passes nothing through the process
    }
    if (const std::uint64_t key = whole_key(operation); key != 0 || !operation.anchors.empty()) {
        contents_.emplace(operation.event, Content{key, operation.anchors});
    }
    const std::uint64_t time_ns = takes ? operation.end_ns : operation.start_ns;
    if (takes == forward) {
        moments_.emplace(operation.event, Moment{operation.process, time_ns});
    } else {
        const std::uint64_t at = takes ? operation.from.at : operation.to.at;
        doings_[operation.process].push_back({operation.event, time_ns, operation.bytes, at});
    }
}

void Trail::meet(std::uint64_t event) {
    const auto content = contents_.find(event);
    if (content == contents_.end()) {
        return;
    }
    if (content->second.key != 0) {
        met_.insert(content->second.key);
    }
    for (const Anchor& anchor : content->second.anchors) {
        met_.insert(anchor.fingerprint);
    }
}

std::optional<schema::FlowRule> Trail::came_back(std::uint64_t event) const {
    const auto content = contents_.find(event);
    if (content == contents_.end()) {
        return std::nullopt;
    }
    if (met_.contains(content->second.key)) {
        return schema::FlowRule::kHash;
    }
    const auto& anchors = content->second.anchors;
    const bool has_one = std::any_of(anchors.begin(), anchors.end(), [&](const Anchor& anchor) {
        return met_.contains(anchor.fingerprint);
    });
    return has_one ? std::optional(schema::FlowRule::kAnchor) : std::nullopt;
}

void Trail::start(const TrailPiece& piece) {
    if (!has_reached(piece.event)) {
        meet(piece.event);
    }
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
    start({step.far_event, far_position, far_position + step.bytes});
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
        const std::uint64_t far_object = forward ? flow->to_begin : flow->from_begin;
        add_step({.near_event = piece.event,
                  .far_event = forward ? flow->to_event : flow->from_event,
                  .far_begin = far_object == kUnknown ? kUnknown : far_object + (begin - near),
                  .bytes = end - begin,
                  .rule = flow->rule,
                  .certainty = flow->certainty},
                 far + (begin - near));
    }
}

// Whatever the process did on the other side of the moment; each is taken away, for it need not be reached twice.
void Trail::follow_doings(const TrailPiece& piece, const Moment& moment) {
    const auto found = doings_.find(moment.process);
    if (found == doings_.end()) {
        return;
    }
    std::vector<Doing>& doings = found->second;
    const auto first = std::lower_bound(
        doings.begin(), doings.end(), moment.time_ns, [&](const Doing& d, std::uint64_t time_ns) {
            return is_forward() ? d.time_ns < time_ns : d.time_ns > time_ns;
        });
    const std::vector<Doing> reached(first, doings.end());
    doings.erase(first, doings.end());
    for (const Doing& doing : reached) {
        if (!has_reached(doing.event)) {
            const std::optional<schema::FlowRule> rule = came_back(doing.event);
            add_step(
                {.near_event = piece.event,
                 .far_event = doing.event,
                 .far_begin = doing.at,
                 .bytes = doing.bytes,
                 .rule = rule.value_or(schema::FlowRule::kProcess),
                 .certainty = rule ? schema::Certainty::kLikely : schema::Certainty::kPossible},
                0);
        }
    }
}

void Trail::follow_process(const TrailPiece& piece) {
    const auto found = moments_.find(piece.event);
    if (found == moments_.end()) {
        return;
    }
    const bool forward = is_forward();
    std::vector<Moment> moments{found->second};
    while (!moments.empty()) {
        const Moment moment = moments.back();
        moments.pop_back();
        follow_doings(piece, moment);
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
    for (auto& [process, doings] : doings_) {
        std::sort(doings.begin(), doings.end(), [&](const Doing& a, const Doing& b) {
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
            if (moments_.contains(piece.event)) {
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
