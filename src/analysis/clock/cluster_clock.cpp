#include "analysis/clock/cluster_clock.h"

#include <algorithm>
#include <cmath>

#include "analysis/clock/clock_solver.h"
#include "base/check.h"

namespace dyetrace::analysis {

void ClusterClock::add_host(const ClockHost& host) {
    CHECK(state_.hosts.size() < kHostsMax);
    const bool is_new =
        host_index_.emplace(host.host, static_cast<std::uint32_t>(state_.hosts.size())).second;
    CHECK(is_new, "a host is added once");
    state_.hosts.push_back({host, {}});
    recent_.emplace_back();
}

std::uint32_t ClusterClock::pair_of(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t first = std::min(a, b), second = std::max(a, b);
    const auto [place, is_new] = pair_index_.emplace(
        std::uint64_t{first} << 32 | second, static_cast<std::uint32_t>(state_.pairs.size()));
    if (is_new) {
        state_.pairs.emplace_back(first, second, state_.assumptions);
        state_.hosts[first].pairs.push_back(place->second);
        state_.hosts[second].pairs.push_back(place->second);
    }
    return place->second;
}

void ClusterClock::add(const ClockMessage& message) {
    const std::uint32_t from = host_index_.at(message.sent.clock().host),
                        to = host_index_.at(message.received.clock().host);
    if (from == to) {
        return;
    }
    const std::uint32_t pair = pair_of(from, to);
    const std::int64_t sent = message.sent.ns(), received = message.received.ns();
    const bool is_above = from < to;
    const PairSample sample{is_above ? sent : received, is_above ? received : sent, is_above};
    for (const auto& [host, at] : {std::pair{from, sent}, std::pair{to, received}}) {
        ClockHost& asked = state_.hosts[host].asked;
        asked.first_ns = std::min(asked.first_ns, at);
        asked.last_ns = std::max(asked.last_ns, at);
        remember(host, pair, sample);
    }
    keep_if_unsure({pair, sample});
    take(pair, sample);
}

void ClusterClock::remember(std::uint32_t host, std::uint32_t pair, const PairSample& sample) {
    RecentMessages& of = recent_[host];
    if (of.ring.size() < kRecentMax) {
        of.ring.push_back({pair, sample});
        return;
    }
    Recent& oldest = of.ring[of.next++ % kRecentMax];
    of.forgotten_until = std::max(of.forgotten_until, own_time(host, oldest));
    oldest = {pair, sample};
}

// Around a step maps bend where no corner is: there every message is a condition of its own.
void ClusterClock::keep_if_unsure(const Recent& message) {
    if (!message.is_refused && state_.unsure.size() < kUnsureMax &&
        state_.pairs[message.pair].is_beside_last_step(message.sample)) {
        state_.unsure.insert({message.pair, message.sample});
    }
}

// What the host's clock showed.
std::int64_t ClusterClock::own_time(std::uint32_t host, const Recent& message) const {
    return message.sample.on(state_.pairs[message.pair].first() == host);
}

void ClusterClock::take(std::uint32_t pair, const PairSample& sample) {
    std::vector<PairSample> refused;
    const HostPair::Verdict verdict = state_.pairs[pair].take(sample, refused);
    refuse(pair, refused);
    if (verdict == HostPair::Verdict::kStepped) {
        cut_both(pair);
    }
}

void ClusterClock::refuse(std::uint32_t pair, const std::vector<PairSample>& refused) {
    for (const PairSample& sample : refused) {
        ++state_.contradictions;
        state_.unsure.erase({pair, sample});
        forget_refused(state_.pairs[pair].first(), {pair, sample});
        forget_refused(state_.pairs[pair].second(), {pair, sample});
        if (state_.contradicting.size() < ClockState::kContradictionsShown) {
            state_.contradicting.push_back(state_.message_of(pair, sample));
        }
    }
}

void ClusterClock::forget_refused(std::uint32_t host, const Recent& message) {
    for (Recent& of : recent_[host].ring) {
        of.is_refused |= of.pair == message.pair && of.sample == message.sample;
    }
}

std::vector<PairSample> ClusterClock::remembered_of(const std::vector<Recent>& messages,
                                                    std::uint32_t pair) {
    std::vector<PairSample> found;
    for (const Recent& message : messages) {
        if (message.pair == pair && !message.is_refused) {
            found.push_back(message.sample);
        }
    }
    return found;
}

// Two clocks alone do not tell which of them stepped: all that either tells begins anew.
void ClusterClock::cut_both(std::uint32_t pair) {
    const std::uint32_t first = state_.pairs[pair].first(), second = state_.pairs[pair].second();
    std::vector<PairSample> remembered = remembered_of(recent_[first].ring, pair);
    const std::vector<PairSample> more = remembered_of(recent_[second].ring, pair);
    remembered.insert(remembered.end(), more.begin(), more.end());
    const HostPair::Step step = state_.pairs[pair].take_step(remembered);
    if (state_.cuts.size() >= kStepsMax) {
        refuse(pair, {step.first_new});
        return;
    }
    // What is in doubt was received by the host that seems to be late: it stood still, or the other
    // one jumped ahead. Either way the late one's clock tells what was before and what was after.
    const std::uint32_t late = step.is_up ? first : second, ahead = step.is_up ? second : first;
    const auto on = [&](std::uint32_t host, std::int64_t x, std::int64_t y) {
        return host == first ? x : y;
    };
    const auto proven = [&](std::uint32_t host, std::int64_t sure) {
        return first_doubt(host, sure, step.first_new.on(host == first), host == late);
    };
    const std::int64_t late_sure = on(late, step.sure_x, step.sure_y);
    const std::int64_t ahead_sure = on(ahead, step.sure_x, step.sure_y);
    const std::int64_t ahead_proven = proven(ahead, ahead_sure);
    cut(late, late_sure, proven(late, late_sure), pair, 0);
    cut(ahead, ahead_sure, ahead_proven, pair, std::max<std::int64_t>(std::llround(step.size), 1));
}

// Other pairs may have had one before, though fewer: that the host received, or that it sent.
std::int64_t ClusterClock::first_doubt(std::uint32_t host,
                                       std::int64_t sure,
                                       std::int64_t seen,
                                       bool received) const {
    for (const std::uint32_t index : state_.hosts[host].pairs) {
        const HostPair& pair = state_.pairs[index];
        for (const PairSample& doubt : pair.doubts()) {
            const bool is_received = doubt.is_above == (pair.second() == host);
            const std::int64_t at = doubt.on(pair.first() == host);
            if (is_received == received && at > sure) {
                seen = std::min(seen, at);
            }
        }
    }
    return seen;
}

// ahead_ns: by how much the host's clock jumped ahead, if it did. Then nothing happened on it for so long, by its own clock: the last such gap before
// `proven` is the step. 0: after the step the host is later than its old time says, and the old one
// may be used up to there.
void ClusterClock::cut(std::uint32_t host,
                       std::int64_t sure,
                       std::int64_t proven,
                       std::uint32_t seen_by,
                       std::int64_t ahead_ns) {
    std::vector<Recent> again = recent_[host].ring;
    const auto own = [&](const Recent& message) { return own_time(host, message); };
    std::sort(again.begin(), again.end(), [&](const Recent& a, const Recent& b) {
        return own(a) < own(b);
    });
    // Not before what is remembered: it could not be taken again.
    const std::int64_t forgotten_until = recent_[host].forgotten_until;
    proven = std::max(proven, forgotten_until);
    const bool is_late = ahead_ns == 0;
    HostCut made{host, seen_by, std::min(sure, proven - 1), proven - 1, proven, proven};
    if (!is_late) {
        std::int64_t before = std::max(made.sure, forgotten_until);
        for (const Recent& message : again) {
            const std::int64_t at = own(message);
            if (at > before && at <= proven) {
                if (before != kNeverBefore && at - before >= ahead_ns) {
                    made.last_old = before;
                    made.begins = at;
                }
                before = at;
            }
        }
    }
    state_.cuts.push_back(made);
    const auto index_of_cut = static_cast<std::uint32_t>(state_.cuts.size() - 1);
    const HostPair::Border border{index_of_cut, made.sure, made.begins, proven};
    std::vector<Recent> doubts;
    for (const std::uint32_t index : state_.hosts[host].pairs) {
        HostPair& pair = state_.pairs[index];
        if (index == seen_by && !is_late) {
            pair.also_begins(pair.first() == host, border);
            continue;
        }
        for (const PairSample& doubt :
             pair.begin_stretch(pair.first() == host, border, remembered_of(again, index))) {
            doubts.push_back({index, doubt});
        }
    }
    std::for_each(
        again.begin(), again.end(), [&](const Recent& message) { keep_if_unsure(message); });
    std::erase_if(again, [&](const Recent& message) { return own(message) < made.begins; });
    again.insert(again.end(), doubts.begin(), doubts.end());
    take_again(again);
}

// Takes messages again after a step. What a pair then finds to be another step is refused: it would
// be seen twice.
void ClusterClock::take_again(const std::vector<Recent>& messages) {
    for (const Recent& message : messages) {
        std::vector<PairSample> refused;
        if (state_.pairs[message.pair].take(message.sample, refused) ==
            HostPair::Verdict::kStepped) {
            refused.push_back(state_.pairs[message.pair].take_step({}).first_new);
        }
        refuse(message.pair, refused);
    }
}

ClockSolution ClusterClock::solve() const {
    return ClockSolver(state_).solve();
}

std::size_t ClusterClock::corners() const {
    std::size_t sum = 0;
    for (const HostPair& pair : state_.pairs) {
        for (const PairStretch& stretch : pair.stretches()) {
            sum += stretch.corridor.above().corners().size() +
                   stretch.corridor.below().corners().size();
        }
    }
    return sum;
}

}  // namespace dyetrace::analysis
