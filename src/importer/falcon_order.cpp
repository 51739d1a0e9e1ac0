#include "importer/falcon_order.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace dyetrace::importer {
namespace {

using enum FalconType;

std::string directed(const FalconEvent& event) {
    return event.source.address + ":" + std::to_string(event.source.port) + ">" +
           event.destination.address + ":" + std::to_string(event.destination.port);
}

// Datagrams without an id: addresses and lengths join them, where causes are looked for.
bool is_counted(const FalconEvent& event) {
    return (event.type == kSend || event.type == kReceive) &&
           (!event.is_udp || !event.text.empty());
}

bool comes_before(const FalconEvent& a, const FalconEvent& b) {
    return a.time_ns < b.time_ns;
}

}  // namespace

std::uint32_t FalconOrder::thread_of(const std::string& name) {
    const auto [found, is_new] =
        thread_numbers_.try_emplace(name, static_cast<std::uint32_t>(threads_.size()));
    if (is_new) {
        threads_.emplace_back();
    }
    return found->second;
}

std::string FalconOrder::channel_key(const FalconEvent& event) {
    return event.is_udp ? "message " + event.text : "bytes " + directed(event);
}

void FalconOrder::add(FalconEvent event) {
    const std::uint32_t thread = thread_of(event.thread);
    count(event, thread);
    std::deque<FalconEvent>& waiting = threads_[thread].waiting;
    const bool is_last = waiting.empty() || !comes_before(event, waiting.back());  // as most
    const auto place = is_last
                           ? waiting.end()
                           : std::upper_bound(waiting.begin(), waiting.end(), event, comes_before);
    const bool is_next = place == waiting.begin();
    waiting.insert(place, std::move(event));
    ++held_;
    if (is_next) {
        offer(thread);
    }
}

// What waits to be given, so that who needs it knows whether it is worth waiting.
void FalconOrder::count(const FalconEvent& event, std::uint32_t thread) {
    switch (event.type) {
        case kCreate:
            ++creates_[event.child].waiting;
            break;
        case kStart:
            ++creates_[event.thread].takers;
            break;
        case kEnd:
            ++ends_[event.thread].waiting;
            break;
        case kConnect:
            ++connects_[event.socket].waiting;
            break;
        case kAccept:
            ++connects_[event.socket].takers;
            break;
        case kClose:
            ++closes_[event.socket].waiting;
            closes_[event.socket].givers.push_back(thread);
            break;
        case kSend:
            if (is_counted(event)) {
                ++channels_[channel_key(event)].waiting;
            }
            break;
        case kLock:
            locks_[event.variable].takers.emplace(event.host_number, event.time_ns);
            break;
        case kWait:
            conditions_[event.variable].takers.emplace(event.host_number, event.time_ns);
            break;
        case kUnlock:
            ++locks_[event.variable].unlocks_waiting[thread];
            break;
        case kNotify:
        case kNotifyAll:
            ++conditions_[event.variable].waiting;
            break;
        default:
            break;
    }
}

// The thread's next event may pass when its turn comes.
void FalconOrder::offer(std::uint32_t number) {
    Thread& thread = threads_[number];
    if (thread.turn != 0) {
        (thread.is_blocked ? blocked_ : ready_).erase({thread.turn_ns, thread.turn, number});
        thread.turn = 0;
    }
    thread.is_blocked = false;
    if (!thread.waiting.empty()) {
        thread.turn = ++turns_;
        thread.turn_ns = thread.waiting.front().time_ns;
        ready_.insert({thread.turn_ns, thread.turn, number});
    }
}

Result<void> FalconOrder::pass_one() {
    CHECK(held_ > 0);
    while (!ready_.empty()) {
        const std::uint32_t number = ready_.begin()->thread;
        Thread& thread = threads_[number];
        Needs needs = needs_of(thread.waiting.front(), number);
        if (needs.met) {
            return pass(number, false);
        }
        blocked_.insert(ready_.extract(ready_.begin()));
        thread.is_blocked = true;
        sleepers_[std::move(needs.key)].push_back(number);
    }
    return pass(blocked_.begin()->thread, true);
}

FalconOrder::Needs FalconOrder::needs_of(const FalconEvent& event, std::uint32_t thread) {
    switch (event.type) {
        case kStart:
            return needs_turn(creates_[event.thread], "start " + event.thread);
        case kJoin:
            return needs_end(event, thread);
        case kAccept:
            return needs_turn(connects_[event.socket], "connect " + event.socket);
        case kReceive:
            return is_counted(event) ? needs_bytes(event) : Needs{};
        case kShutdown:
            return needs_closes(event, thread);
        case kLock: {
            const Lock& lock = locks_[event.variable];
            if (lock.holder && *lock.holder == thread) {
                return {};  // once more
            }
            const bool is_free = !lock.holder || !lock.unlocks_waiting.contains(*lock.holder);
            return {is_free && is_first(lock.takers, event), "lock " + event.variable};
        }
        case kWait: {
            const Condition& condition = conditions_[event.variable];
            const bool is_there =
                !condition.notifies.empty() || condition.to_all || condition.waiting == 0;
            return {is_there && is_first(condition.takers, event), "notify " + event.variable};
        }
        default:
            return {};
    }
}

bool FalconOrder::is_first(const Takers& takers, const FalconEvent& event) {
    const auto first = takers.lower_bound({event.host_number, 0});
    return first == takers.end() || first->first != event.host_number ||
           first->second >= event.time_ns;
}

// The last takers take what the last givers give: of more givers than takers the first stay alone.
std::uint64_t FalconOrder::turn_of(const Gifts& gifts) {
    const std::uint64_t all = gifts.given.size() + gifts.waiting;
    return gifts.taken + (all > gifts.takers ? all - gifts.takers : 0);
}

FalconOrder::Needs FalconOrder::needs_turn(const Gifts& gifts, std::string key) {
    return {gifts.waiting == 0 || gifts.given.size() > turn_of(gifts), std::move(key)};
}

FalconOrder::Needs FalconOrder::needs_end(const FalconEvent& event, std::uint32_t thread) {
    const auto child = thread_numbers_.find(event.child);
    if (child == thread_numbers_.end() || child->second == thread) {
        return {};
    }
    if (creates_[event.child].takers > 1) {
        const Gifts& ends = ends_[event.child];
        return {ends.waiting == 0 || ends.given.size() > ends.taken, "end " + event.child};
    }
    return {threads_[child->second].waiting.empty(), "end " + event.child};
}

FalconOrder::Needs FalconOrder::needs_bytes(const FalconEvent& event) {
    std::string key = channel_key(event);
    const Channel& channel = channels_[key];
    return {channel.waiting == 0 || channel.sent >= channel.taken + event.bytes(), std::move(key)};
}

// A thread's own CLOSE may come after its SHUTDOWN.
FalconOrder::Needs FalconOrder::needs_closes(const FalconEvent& event, std::uint32_t thread) {
    const Gifts& gifts = closes_[event.socket];
    const auto own = std::count(gifts.givers.begin(), gifts.givers.end(), thread);
    return {gifts.taken > 0 || gifts.waiting <= static_cast<std::uint64_t>(own),
            "close " + event.socket};
}

// The places of what the event needed, and what it takes of it.
std::vector<FalconPlace> FalconOrder::gather(const FalconEvent& event, std::uint32_t thread) {
    switch (event.type) {
        case kStart:
        case kAccept: {
            Gifts& gifts = event.type == kStart ? creates_[event.thread] : connects_[event.socket];
            if (gifts.takers == 1) {
                return gifts.given;
            }
            const std::uint64_t turn = turn_of(gifts);
            ++gifts.taken;
            return turn < gifts.given.size() ? std::vector{gifts.given[turn]}
                                             : std::vector<FalconPlace>();
        }
        case kJoin:
            return gather_ends(event, thread);
        case kShutdown: {
            Gifts& gifts = closes_[event.socket];
            return gifts.taken++ == 0 ? gifts.given : std::vector<FalconPlace>();
        }
        case kLock: {
            const Lock& lock = locks_[event.variable];
            return lock.unlocked && lock.unlocked_by != thread ? std::vector{*lock.unlocked}
                                                               : std::vector<FalconPlace>();
        }
        case kWait:
            return gather_notify(event);
        default:
            return {};
    }
}

std::vector<FalconPlace> FalconOrder::gather_ends(const FalconEvent& event, std::uint32_t thread) {
    const auto child = thread_numbers_.find(event.child);
    if (child == thread_numbers_.end() || child->second == thread) {
        return {};
    }
    Gifts& ends = ends_[event.child];
    if (creates_[event.child].takers > 1 && ends.taken < ends.given.size()) {
        return {ends.given[ends.taken++]};
    }
    const std::optional<FalconPlace>& last = threads_[child->second].last;
    return last ? std::vector{*last} : std::vector<FalconPlace>();
}

std::vector<FalconPlace> FalconOrder::gather_notify(const FalconEvent& event) {
    Condition& condition = conditions_[event.variable];
    if (condition.to_all) {
        return {*condition.to_all};
    }
    if (condition.notifies.empty()) {
        return {};
    }
    const FalconPlace given = condition.notifies.front();
    condition.notifies.pop_front();
    return {given};
}

// The SNDs that an RCV's bytes are of.
std::vector<FalconPlace> FalconOrder::gather_bytes(const FalconEvent& event) {
    Channel& channel = channels_[channel_key(event)];
    channel.taken += event.bytes();
    std::vector<FalconPlace> givers;
    while (!channel.sends.empty() && channel.sends.front().begin < channel.taken) {
        givers.push_back(channel.sends.front().place);
        if (channel.sends.front().end > channel.taken) {
            break;  // the rest of it is another one's
        }
        channel.sends.pop_front();
    }
    return givers;
}

Result<void> FalconOrder::pass(std::uint32_t number, bool is_forced) {
    FalconPassed passed;
    {
        Thread& thread = threads_[number];
        passed.event = std::move(thread.waiting.front());
        thread.waiting.pop_front();
        passed.is_late = thread.last && passed.event.time_ns < thread.last_own_ns;
        passed.time_ns = std::max<std::uint64_t>(passed.event.time_ns, 1);
        if (thread.last) {
            passed.time_ns = std::max(passed.time_ns, thread.last->time_ns + kStepNs);
        }
        thread.last_own_ns = std::max(thread.last_own_ns, passed.event.time_ns);
    }
    --held_;
    const FalconEvent& event = passed.event;
    passed.is_forced = is_forced;
    passed.after = gather(event, number);
    std::vector<FalconPlace> senders;
    if (is_counted(event)) {
        const Channel& channel = channels_[channel_key(event)];
        passed.stream_offset = event.type == kSend ? channel.sent : channel.taken;
        senders = event.type == kReceive ? gather_bytes(event) : std::vector<FalconPlace>();
    }
    if (event.is_udp) {
        passed.after.insert(passed.after.end(), senders.begin(), senders.end());
    }
    senders.insert(senders.end(), passed.after.begin(), passed.after.end());
    for (const FalconPlace& giver : senders) {
        if (giver.host_number == event.host_number) {
            passed.time_ns = std::max(passed.time_ns, giver.time_ns + kStepNs);
        }
    }
    TRY(const FalconPlace place, pass_(passed));
    settle(event, number, place);
    return {};
}

// What has passed now may be what another thread waits for.
void FalconOrder::settle(const FalconEvent& event, std::uint32_t number, const FalconPlace& place) {
    const auto give = [&](Gifts& gifts, const std::string& key) {
        gifts.given.push_back(place);
        --gifts.waiting;
        wake(key);
    };
    threads_[number].last = place;
    switch (event.type) {
        case kCreate:
            give(creates_[event.child], "start " + event.child);
            break;
        case kEnd:
            give(ends_[event.thread], "end " + event.thread);
            break;
        case kConnect:
            give(connects_[event.socket], "connect " + event.socket);
            break;
        case kClose: {
            Gifts& gifts = closes_[event.socket];
            gifts.givers.erase(std::find(gifts.givers.begin(), gifts.givers.end(), number));
            give(gifts, "close " + event.socket);
            break;
        }
        case kLock:
        case kUnlock:
            settle_lock(event, number, place);
            break;
        case kWait:
        case kNotify:
        case kNotifyAll:
            settle_condition(event, place);
            break;
        case kSend:
            if (is_counted(event)) {
                const std::string key = channel_key(event);
                Channel& channel = channels_[key];
                --channel.waiting;
                channel.sends.push_back({channel.sent, channel.sent + event.bytes(), place});
                channel.sent += event.bytes();
                wake(key);
            }
            break;
        default:
            break;
    }
    if (threads_[number].waiting.empty()) {
        wake("end " + event.thread);
    }
    offer(number);
}

void FalconOrder::settle_lock(const FalconEvent& event,
                              std::uint32_t number,
                              const FalconPlace& place) {
    Lock& lock = locks_[event.variable];
    const bool is_holder = lock.holder && *lock.holder == number;
    if (event.type == kLock) {
        lock.depth = is_holder ? lock.depth + 1 : 1;
        lock.holder = number;
        lock.takers.erase(lock.takers.find({event.host_number, event.time_ns}));
        wake("lock " + event.variable);
        return;
    }
    if (const auto waiting = lock.unlocks_waiting.find(number); --waiting->second == 0) {
        lock.unlocks_waiting.erase(waiting);
    }
    if (is_holder && --lock.depth == 0) {
        lock.holder.reset();
    }
    lock.unlocked = place;
    lock.unlocked_by = number;
    wake("lock " + event.variable);
}

void FalconOrder::settle_condition(const FalconEvent& event, const FalconPlace& place) {
    Condition& condition = conditions_[event.variable];
    if (event.type == kWait) {
        condition.takers.erase(condition.takers.find({event.host_number, event.time_ns}));
        wake("notify " + event.variable);
        return;
    }
    --condition.waiting;
    if (event.type == kNotifyAll) {
        condition.to_all = place;
    } else {
        condition.notifies.push_back(place);
    }
    wake("notify " + event.variable);
}

void FalconOrder::wake(const std::string& key) {
    const auto sleepers = sleepers_.extract(key);
    if (sleepers.empty()) {
        return;
    }
    for (const std::uint32_t number : sleepers.mapped()) {
        Thread& thread = threads_[number];
        if (std::exchange(thread.is_blocked, false)) {
            ready_.insert(blocked_.extract({thread.turn_ns, thread.turn, number}));
        }
    }
}

}  // namespace dyetrace::importer
