#include "analysis/causality/file_locks.h"

#include <algorithm>
#include <utility>

namespace dyetrace::analysis {
namespace {

// Takes the bytes of `range` out of those parts that `concerns` names; `visit` is shown each part with what was taken of it.
template <typename Part, typename Concerns, typename Visit>
void cut_out(std::vector<Part>& parts, const ByteRange& range, Concerns&& concerns, Visit&& visit) {
    const auto is_cut = [&](const Part& part) {
        return part.range.overlaps(range) && concerns(part);
    };
    if (std::none_of(parts.begin(), parts.end(), is_cut)) {
        return;
    }
    std::vector<Part> kept;
    for (const Part& part : parts) {
        if (!is_cut(part)) {
            kept.push_back(part);
            continue;
        }
        const ByteRange taken = {std::max(part.range.begin, range.begin),
                                 std::min(part.range.end, range.end)};
        for (const ByteRange& rest :
             {ByteRange{part.range.begin, taken.begin}, ByteRange{taken.end, part.range.end}}) {
            if (rest.begin < rest.end) {
                kept.push_back(part);
                kept.back().range = rest;
            }
        }
        visit(part, taken);
    }
    parts = std::move(kept);
}

}  // namespace

template <typename Part>
void FileLocks::keep_within_limit(std::vector<Part>& parts) {
    if (parts.size() > kFileLocksMax) {
        parts.erase(parts.begin());
        ++forgotten_;
    }
}

// What the same thread let go of before is before this, too.
void FileLocks::add_release(const HandoverAct& act, const ByteRange& range, bool exclusive) {
    std::erase_if(releases_, [&](const Release& each) {
        return each.thread == act.thread && range.covers(each.range) &&
               (exclusive || !each.exclusive);
    });
    releases_.push_back({range, act.event, act.thread, exclusive});
    keep_within_limit(releases_);
}

void FileLocks::requested(const HandoverAct& act) {
    const bool exclusive = act.kind == ActKind::kLockedExclusive;
    cut_out(
        held_,
        act.range,
        [&](const Held& held) { return held.holder == act.holder && held.exclusive != exclusive; },
        [&](const Held& held, const ByteRange& taken) { add_release(act, taken, held.exclusive); });
}

void FileLocks::acquired(const HandoverAct& act, std::vector<Handover>& found) {
    const bool exclusive = act.kind == ActKind::kLockedExclusive;
    const auto nothing = [](const auto&, const ByteRange&) {};
    std::uint64_t last = act.event;  // pieces of one call stand together; its own do not count
    for (const Release& each : releases_) {
        if (each.range.overlaps(act.range) && (exclusive || each.exclusive) && each.event != last &&
            each.event != act.event) {
            found.push_back({each.event, act.event, schema::CauseRule::kLock});
            last = each.event;
        }
    }
    if (exclusive) {  // whoever comes next, comes after this one
        cut_out(
            releases_, act.range, [](const Release&) { return true; }, nothing);
    }
    cut_out(
        held_, act.range, [&](const Held& held) { return held.holder == act.holder; }, nothing);
    held_.push_back({act.range, act.holder, exclusive});
    keep_within_limit(held_);
}

void FileLocks::released(const HandoverAct& act) {
    cut_out(
        held_,
        act.range,
        [&](const Held& held) { return held.holder == act.holder; },
        [&](const Held& held, const ByteRange& taken) { add_release(act, taken, held.exclusive); });
}

}  // namespace dyetrace::analysis
