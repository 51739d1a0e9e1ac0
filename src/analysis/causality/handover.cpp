#include "analysis/causality/handover.h"

#include <algorithm>

namespace dyetrace::analysis {
namespace {

using schema::CauseRule;

constexpr std::uint64_t kUnderWay = UINT64_MAX;  // end of a call that has not ended

bool is_queued(ActKind kind) {
    return kind == ActKind::kQueuedSignalDelivered;
}

bool is_of_lock(ActKind kind) {
    return kind == ActKind::kLockedShared || kind == ActKind::kLockedExclusive ||
           kind == ActKind::kUnlocked;
}

}  // namespace

void HandoverEngine::give(Item& item, const HandoverAct& act) {
    if (item.gives.size() == kHandoverGivesMax) {
        item.forgotten_until_ns = std::max(item.forgotten_until_ns, item.gives.front().end_ns);
        item.gives.pop_front();
        ++forgotten_;
    }
    item.gives.push_back({act.event, act.thread, act.start_ns, kUnderWay});
}

std::uint64_t HandoverEngine::forgotten() const {
    std::uint64_t forgotten = forgotten_;
    for (const auto& [file, locks] : locks_) {
        forgotten += locks.forgotten();
    }
    return forgotten;
}

void HandoverEngine::starts(const HandoverAct& act, std::vector<Handover>& found) {
    if (is_of_lock(act.kind)) {
        FileLocks& locks = locks_[act.key];
        act.kind == ActKind::kUnlocked ? locks.released(act) : locks.requested(act);
        return;
    }
    Item& item = items_[act.key];
    switch (act.kind) {
        case ActKind::kSignalSent:
        case ActKind::kQueuedSignalSent:
        case ActKind::kFutexWoke:
        case ActKind::kCounterAdded:
        case ActKind::kCounterMadeFull:
            give(item, act);
            break;
        case ActKind::kSignalDelivered:
        case ActKind::kQueuedSignalDelivered:
            deliver(item, act, found);
            break;
        default:
            break;
    }
}

void HandoverEngine::ends(const HandoverAct& act, std::vector<Handover>& found) {
    if (is_of_lock(act.kind)) {
        if (act.kind != ActKind::kUnlocked) {
            locks_[act.key].acquired(act, found);
        }
        return;
    }
    Item& item = items_[act.key];
    for (Give& give : item.gives) {
        if (give.event == act.event) {
            give.end_ns = act.end_ns;
        }
    }
    switch (act.kind) {
        case ActKind::kFutexWaited:
            wake(item, act, found);
            break;
        case ActKind::kCounterRead:
            count(item, act, found);
            break;
        case ActKind::kCounterMade:
        case ActKind::kCounterMadeFull:
            item.resets = act.holder == 0;
            item.may_be_left = false;
            break;
        default:
            break;
    }
}

// The kernel says who sent it; of several that he sent it is the first that was not delivered yet. What was sent while the same
// signal waited is dropped by the kernel, but for real-time signals.
void HandoverEngine::deliver(Item& item, const HandoverAct& act, std::vector<Handover>& found) {
    if (item.gives.empty()) {
        return;
    }
    found.push_back({item.gives.front().event, act.event, CauseRule::kSignal});
    item.gives.pop_front();
    if (!is_queued(act.kind)) {
        std::erase_if(item.gives, [](const Give& give) { return give.end_ns != kUnderWay; });
    }
}

// A wait that was woken up: by the only wake that overlaps it, if there is only one.
void HandoverEngine::wake(Item& item, const HandoverAct& act, std::vector<Handover>& found) {
    if (item.forgotten_until_ns >= act.start_ns) {
        return;
    }
    const Give* only = nullptr;
    for (const Give& give : item.gives) {
        if (give.end_ns < act.start_ns) {
            continue;
        }
        if (only != nullptr) {
            return;
        }
        only = &give;
    }
    if (only != nullptr) {
        found.push_back({only->event, act.event, CauseRule::kFutex});
    }
}

// A read of a counter knows of all that was added since the last one and had ended before it began: the last addition of each thread stands
// for its earlier ones. If nothing can have been left for it, it waited, and what was added meanwhile is what it got, if that was one addition.
void HandoverEngine::count(Item& item, const HandoverAct& act, std::vector<Handover>& found) {
    const Give* only = nullptr;
    std::size_t meanwhile = 0;
    bool may_be_left = item.may_be_left || item.forgotten_until_ns > item.last_read_start_ns;
    std::vector<std::uint64_t> told;
    for (auto give = item.gives.rbegin(); give != item.gives.rend(); ++give) {
        if (give->end_ns >= act.start_ns) {
            only = &*give;
            ++meanwhile;
            continue;
        }
        may_be_left = may_be_left || give->end_ns >= item.last_read_start_ns;
        if (std::find(told.begin(), told.end(), give->thread) == told.end()) {
            told.push_back(give->thread);
            found.push_back({give->event, act.event, CauseRule::kEventfd});
        }
    }
    if (meanwhile == 1 && !may_be_left) {
        found.push_back({only->event, act.event, CauseRule::kEventfd});
    }
    std::erase_if(item.gives, [&](const Give& give) { return give.end_ns < act.start_ns; });
    item.last_read_start_ns = std::max(item.last_read_start_ns, act.start_ns);
    item.may_be_left = !item.resets && act.holder == 0;
}

}  // namespace dyetrace::analysis
