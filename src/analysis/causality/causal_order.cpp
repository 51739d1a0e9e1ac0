#include "analysis/causality/causal_order.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace dyetrace::analysis {
namespace {

constexpr std::size_t kStepsAtOnce = 4096;  // per advance(): some hundred microseconds

using schema::CauseRule;

// The lower, the sooner an edge is left out: messages that may get lost or be mistaken for another one, then what is known by names that
// are used again, then what the kernel numbers.
int trust_in(CauseRule rule) {
    switch (rule) {
        case CauseRule::kDatagram:
            return 0;
        case CauseRule::kSignal:
        case CauseRule::kFutex:
        case CauseRule::kEventfd:
        case CauseRule::kLock:
        case CauseRule::kName:
        case CauseRule::kImport:
            return 1;
        case CauseRule::kConnect:
        case CauseRule::kEof:
            return 2;
        case CauseRule::kTcp:
            return 3;
        default:
            return 4;
    }
}

CauseEdge edge_of(const CauseStep& take) {
    return {.from_event = take.other_event,
            .from_thread = take.other_thread,
            .from_at = take.other_at,
            .to_event = take.event,
            .to_thread = take.thread,
            .to_at = take.at,
            .rule = take.rule};
}

}  // namespace

schema::ContradictionCause likely_cause(const CauseCycle& cycle) {
    switch (cycle.left_out.rule) {
        case CauseRule::kDatagram:
            return schema::ContradictionCause::
                kLoss;  // a later one was taken for the one that is missing
        case CauseRule::kTcp:
        case CauseRule::kConnect:
        case CauseRule::kEof:
            return schema::ContradictionCause::kPortReuse;
        default:
            return cycle.edges.size() == 1 ? schema::ContradictionCause::kClock
                                           : schema::ContradictionCause::kTruncatedCapture;
    }
}

schema::ContradictionCause likely_cause(const LateEdge& late) {
    return late.edge.rule == CauseRule::kDatagram ? schema::ContradictionCause::kLoss
                                                  : schema::ContradictionCause::kClock;
}

CausalOrder::CausalOrder(std::vector<StepSource> hosts, ClockPieces clock)
    : clock_(std::move(clock)) {
    for (StepSource& source : hosts) {
        ready_.push_back(hosts_.size());
        hosts_.push_back({.source = std::move(source)});
    }
}

const CauseStep& CausalOrder::blocking(std::size_t host) const {
    return hosts_[host].steps[hosts_[host].next];
}

bool CausalOrder::take(std::size_t host, const CauseStep& step, OrderedSteps& out) {
    const auto given = given_.remove(step.edge);
    if (!given) {
        if (left_out_.contains(step.edge)) {
            return true;
        }
        resting_.emplace(step.edge, host);
        return false;
    }
    if (const auto late = late_edge(host, step)) {
        out.late.push_back(*late);
        if (late->is_left_out) {
            return true;
        }
    }
    std::uint64_t& rank = ranks_[step.thread];
    rank = std::max(rank, *given + 1);
    out.edges.push_back(edge_of(step));
    out.edges.back().from_rank = *given;
    out.edges.back().to_rank = rank;
    return true;
}

std::optional<LateEdge> CausalOrder::late_edge(std::size_t host, const CauseStep& take) const {
    if (take.other_host == host) {
        return std::nullopt;
    }
    const auto time_of = [this](std::size_t on, std::uint64_t at) {
        return clock_.at({{static_cast<std::uint32_t>(on)}, static_cast<std::int64_t>(at)});
    };
    const auto given = time_of(take.other_host, take.other_at), taken = time_of(host, take.at);
    if (!given || !taken || !given->is_bounded || !taken->is_bounded ||
        given->earliest <= taken->latest) {
        return std::nullopt;
    }
    return LateEdge{edge_of(take), *given, *taken, take.rule == CauseRule::kDatagram};
}

// False: it cannot pass yet.
bool CausalOrder::pass(std::size_t host, const CauseStep& step, OrderedSteps& out) {
    if (step.kind == StepKind::kEnds) {
        out.events.push_back(
            {{step.event, step.thread, step.other_at, step.at}, ++ranks_[step.thread]});
        return true;
    }
    if (step.kind == StepKind::kTakes) {
        return take(host, step, out);
    }
    if (left_out_.erase(step.edge) > 0) {
        return true;
    }
    given_[step.edge] = ranks_[step.thread] + 1;  // what the event will have, or more
    if (const auto waits = resting_.find(step.edge); waits != resting_.end()) {
        ready_.push_back(waits->second);
        resting_.erase(waits);
    }
    return true;
}

// False: the host rests or has ended.
Result<bool> CausalOrder::read(std::size_t index, OrderedSteps& out, std::size_t& budget) {
    Host& host = hosts_[index];
    while (budget > 0) {
        if (host.next == host.steps.size()) {
            TRY(host.steps, host.source());
            host.next = 0;
            host.ended = host.steps.empty();
        }
        if (host.ended || !pass(index, host.steps[host.next], out)) {
            return false;
        }
        ++host.next;
        --budget;
    }
    return true;
}

Result<bool> CausalOrder::advance(OrderedSteps& out) {
    std::size_t budget = kStepsAtOnce;
    while (budget > 0) {
        if (ready_.empty() && !leave_one_out(out)) {
            return false;
        }
        const std::size_t host = ready_.back();
        ready_.pop_back();
        TRY(const bool goes_on, read(host, out, budget));
        if (goes_on) {
            ready_.push_back(host);
        }
    }
    return true;
}

// All that have not ended rest: going from each to the host that it waits for leads into a cycle, for each waits for one.
bool CausalOrder::leave_one_out(OrderedSteps& out) {
    if (resting_.empty()) {
        return false;
    }
    std::size_t host = hosts_.size();
    for (const auto& [edge, rests] : resting_) {
        host = std::min(host, rests);  // the same one whatever the order of the map
    }
    std::vector<bool> seen(hosts_.size());
    while (!seen[host] && !hosts_[blocking(host).other_host].ended) {
        seen[host] = true;
        host = blocking(host).other_host;
    }
    std::vector<std::size_t> members;
    do {  // once around; a give that never comes is a cycle of its own
        members.push_back(host);
        host = blocking(host).other_host;
    } while (host != members.front() && !hosts_[host].ended);
    const auto trust = [this](std::size_t member) {
        return std::pair(!late_edge(member, blocking(member)), trust_in(blocking(member).rule));
    };
    const auto weakest = std::min_element(
        members.begin(), members.end(), [&](auto a, auto b) { return trust(a) < trust(b); });
    std::rotate(members.begin(), weakest, members.end());
    if (auto late = late_edge(members.front(), blocking(members.front()))) {
        late->is_left_out = true;
        out.late.push_back(*late);
    } else {
        CauseCycle& cycle = out.cycles.emplace_back();
        for (const std::size_t member : members) {
            cycle.edges.push_back(edge_of(blocking(member)));
        }
        cycle.left_out = cycle.edges.front();
    }
    const std::uint64_t edge = blocking(members.front()).edge;
    left_out_.insert(edge);
    resting_.erase(edge);
    ready_.push_back(members.front());
    return true;
}

}  // namespace dyetrace::analysis
