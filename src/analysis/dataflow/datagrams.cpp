#include "analysis/dataflow/datagrams.h"

#include <utility>

namespace dyetrace::analysis {
namespace {

constexpr std::uint64_t kNoFingerprint = 0;

}  // namespace

std::size_t Datagrams::KeyHash::operator()(const Key& key) const {
    constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15;  // 2^64 by the golden ratio
    return static_cast<std::size_t>(((key.ports * kMix ^ key.bytes) * kMix ^ key.fingerprint) *
                                    kMix);
}

Datagrams::Key Datagrams::key_of(const Operation& operation, const Side& side) {
    return {side.other, operation.bytes, operation.fingerprint.value_or(kNoFingerprint)};
}

void Datagrams::sent(const Operation& operation, Act act, std::vector<Flow>& flows) {
    act.begin = 0;
    meet(key_of(operation, operation.to), act, true, false, flows);
}

void Datagrams::taken(const Operation& operation, Act act, std::vector<Flow>& flows) {
    act.begin = 0;
    meet(key_of(operation, operation.from), act, false, operation.from.peeks, flows);
}

void Datagrams::meet(
    const Key& key, const Act& act, bool is_sent, bool peeks, std::vector<Flow>& flows) {
    if (key.ports == 0) {
        return;
    }
    const auto found = waiting_.find(key);
    if (found == waiting_.end() || found->second.are_sent == is_sent) {
        if (!peeks) {
            wait(key, act, is_sent);
        }
        return;
    }
    const Act& other = found->second.acts.front();
    Flow flow = flow_between(
        is_sent ? act : other, is_sent ? other : act, 0, key.bytes, schema::FlowRule::kUdp, false);
    if (key.fingerprint == kNoFingerprint) {
        flow.certainty = schema::Certainty::kPossible;
    }
    flows.push_back(flow);
    if (peeks) {
        return;
    }
    found->second.acts.pop_front();
    if (found->second.acts.empty()) {
        waiting_.erase(found);
    }
}

void Datagrams::wait(const Key& key, const Act& act, bool is_sent) {
    Waiting& waiting = waiting_[key];
    waiting.are_sent = is_sent;
    waiting.acts.push_back(act);
    order_.push_back(key);
    if (order_.size() <= kDatagramsWaitingMax) {
        return;
    }
    const Key oldest = std::exchange(order_.front(), {});
    order_.pop_front();
    // Of what was taken meanwhile a younger one with the same key may stand here: it goes early.
    const auto found = waiting_.find(oldest);
    if (found == waiting_.end()) {
        return;
    }
    ++forgotten_;
    found->second.acts.pop_front();
    if (found->second.acts.empty()) {
        waiting_.erase(found);
    }
}

}  // namespace dyetrace::analysis
