#include "analysis/dataflow/datagrams.h"

#include <algorithm>

namespace dyetrace::analysis {
namespace {

constexpr std::uint64_t kNoFingerprint = 0;
// 1 MiB. A kind shares its bit with others: of a million that were forgotten one in nine others falls silent.
constexpr std::size_t kSpoiltBits = std::size_t{1} << 23;

bool may_be_same(std::uint32_t a, std::uint32_t b) {
    return a == 0 || b == 0 || a == b;
}

}  // namespace

std::size_t Datagrams::KeyHash::operator()(const Key& key) const {
    constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15;  // 2^64 by the golden ratio
    const std::uint64_t mixed = ((key.ports * kMix ^ key.bytes) * kMix ^ key.fingerprint) * kMix;
    return static_cast<std::size_t>(mixed ^ mixed >> 32);
}

bool Datagrams::Datagram::agrees_with(const Datagram& other) const {
    return may_be_same(sender, other.sender) && may_be_same(receiver, other.receiver);
}

const Datagrams::Datagram* Datagrams::Queue::find(const Datagram& other) const {
    const std::size_t end = std::min(datagrams_.size(), first_ + kDatagramsLookedAtMax);
    for (std::size_t at = first_; at < end; ++at) {
        if (datagrams_[at].agrees_with(other)) {
            return &datagrams_[at];
        }
    }
    return nullptr;
}

void Datagrams::Queue::erase(const Datagram* datagram) {
    const auto first = datagrams_.begin() + static_cast<std::ptrdiff_t>(first_);
    const auto gone = datagrams_.begin() + (datagram - datagrams_.data());
    std::move_backward(first, gone, gone + 1);
    ++first_;
    if (2 * first_ > datagrams_.size()) {
        datagrams_.erase(datagrams_.begin(),
                         datagrams_.begin() + static_cast<std::ptrdiff_t>(first_));
        first_ = 0;
    }
}

Datagrams::Key Datagrams::key_of(const Operation& operation, const Side& side) {
    return {side.other, operation.bytes, operation.fingerprint.value_or(kNoFingerprint)};
}

void Datagrams::sent(const Operation& operation, Act act, std::vector<Flow>& flows) {
    act.offset = 0;
    const Side& side = operation.to;
    meet(key_of(operation, side), {act, side.own_address, side.far_address}, true, false, flows);
}

void Datagrams::taken(const Operation& operation, Act act, std::vector<Flow>& flows) {
    act.offset = 0;
    const Side& side = operation.from;
    meet(key_of(operation, side),
         {act, side.far_address, side.own_address},
         false,
         side.peeks,
         flows);
}

bool Datagrams::is_spoilt(const Key& key) const {
    return !spoilt_.empty() && spoilt_[KeyHash()(key) % kSpoiltBits];
}

void Datagrams::meet(
    const Key& key, const Datagram& datagram, bool is_sent, bool peeks, std::vector<Flow>& flows) {
    if (key.ports == 0) {
        return;
    }
    if (is_spoilt(key)) {
        ++forgotten_;
        return;
    }
    const auto found = waiting_.find(key);
    Queue* const others = found == waiting_.end() ? nullptr
                          : is_sent               ? &found->second.taken
                                                  : &found->second.sent;
    const Datagram* const other = others == nullptr ? nullptr : others->find(datagram);
    if (other == nullptr) {
        if (!peeks) {
            wait(key, datagram, is_sent);
        }
        return;
    }
    const Act& sent = is_sent ? datagram.act : other->act;
    const Act& taken = is_sent ? other->act : datagram.act;
    Flow flow = flow_between(sent, taken, 0, key.bytes, schema::FlowRule::kUdp, false);
    if (key.fingerprint == kNoFingerprint) {
        flow.certainty = schema::Certainty::kPossible;
    }
    flows.push_back(flow);
    if (peeks) {
        return;
    }
    others->erase(other);
    if (found->second.empty()) {
        waiting_.erase(found);
    }
}

void Datagrams::wait(const Key& key, const Datagram& datagram, bool is_sent) {
    Waiting& waiting = waiting_[key];
    (is_sent ? waiting.sent : waiting.taken).push(datagram);
    order_.push_back({key, is_sent});
    if (order_.size() > kDatagramsWaitingMax) {
        forget_oldest();
    }
}

// If the oldest was taken meanwhile, a younger one of the same kind may stand in its place: that
// one is forgotten early.
void Datagrams::forget_oldest() {
    const Place oldest = order_.front();
    order_.pop_front();
    const auto found = waiting_.find(oldest.key);
    if (found == waiting_.end()) {
        return;
    }
    Queue& same = oldest.is_sent ? found->second.sent : found->second.taken;
    if (same.empty()) {
        return;
    }
    ++forgotten_;
    same.pop();
    if (oldest.is_sent) {
        spoilt_.resize(kSpoiltBits);
        spoilt_[KeyHash()(oldest.key) % kSpoiltBits] = true;
    }
    if (found->second.empty()) {
        waiting_.erase(found);
    }
}

}  // namespace dyetrace::analysis
