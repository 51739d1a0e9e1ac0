#include "api/timeline/timeline_cache.h"

#include <algorithm>
#include <utility>

#include "filter/predicate.h"

namespace dyetrace::api {
namespace {

constexpr std::chrono::milliseconds kLookForCancelEvery{20};  // whether it was cancelled

}  // namespace

TimelineCache::TimelineCache(api::DatabasePool& pool,
                             query::SelectedEvents& trace,
                             std::string clock)
    : pool_(pool), trace_(trace), clock_(std::move(clock)) {}

TimelineCache::~TimelineCache() {
    is_ended_ = true;
    if (beside_.joinable()) {
        beside_.join();
    }
}

std::shared_ptr<TimelineCache::Slot> TimelineCache::slot_of(const std::string& where) {
    const auto found = std::find_if(
        slots_.begin(), slots_.end(), [&](const auto& slot) { return slot->where == where; });
    if (found != slots_.end()) {
        return *found;
    }
    if (slots_.size() >= kTimelinesKept) {
        const auto oldest =
            std::min_element(slots_.begin(), slots_.end(), [](const auto& a, const auto& b) {
                return std::pair(a->is_read, a->asked) < std::pair(b->is_read, b->asked);
            });
        slots_.erase(oldest);
    }
    slots_.push_back(std::make_shared<Slot>());
    slots_.back()->where = where;
    return slots_.back();
}

bool TimelineCache::is_old(const Slot& slot) const {
    return slot.timeline->is_recording && !slot.is_read &&
           Clock::now() - slot.made > std::max<Clock::duration>(kAgeMin, slot.took * kAgeFactor);
}

Result<TimelineCache::Kept> TimelineCache::of(const std::string& where,
                                              const std::atomic<bool>& cancelled) {
    // What is no condition takes no place.
    if (!where.empty()) {
        TRY(filter::Predicate::parse(where));
    }
    std::unique_lock lock(mutex_);
    const std::shared_ptr<Slot> slot = slot_of(where);
    slot->asked = ++asked_;
    while (!slot->timeline && slot->is_read) {
        if (cancelled) {
            return Error(ErrorCode::kInterrupted, "cancelled while the timeline was read");
        }
        read_.wait_for(lock, kLookForCancelEvery);
    }
    if (!slot->timeline) {
        slot->is_read = true;
        lock.unlock();
        TRY(read(*slot, cancelled));
        lock.lock();
    }
    return slot->timeline;
}

Result<void> TimelineCache::look_again(const std::string& where,
                                       const std::atomic<bool>& cancelled) {
    std::unique_lock lock(mutex_);
    const auto found = std::find_if(slots_.begin(), slots_.end(), [&](const auto& each) {
        return each->where == where && each->timeline && each->timeline->is_recording;
    });
    if (found == slots_.end()) {
        return {};
    }
    const std::shared_ptr<Slot> slot = *found;
    if (trace_.has_ended()) {
        return read_end(slot, lock, cancelled);
    }
    if (is_old(*slot)) {
        read_beside(slot, lock);
    }
    return {};
}

// Another database than the one that saw the end may see it up to a second later.
Result<void> TimelineCache::read_end(const std::shared_ptr<Slot>& slot,
                                     std::unique_lock<std::mutex>& lock,
                                     const std::atomic<bool>& cancelled) {
    const Clock::time_point late = Clock::now() + 2 * api::kLookAgainAfter;
    while (slot->timeline->is_recording && (slot->is_read || Clock::now() < late)) {
        if (cancelled) {
            return Error(ErrorCode::kInterrupted, "cancelled while the timeline was read");
        }
        if (!slot->is_read) {
            slot->is_read = true;
            lock.unlock();
            TRY(read(*slot, cancelled));
            lock.lock();
        }
        if (slot->timeline->is_recording) {
            read_.wait_for(lock, kLookForCancelEvery);
        }
    }
    return {};
}

// Two who ask at once both read: the second finds the table made.
Result<TimelineCache::KeptFlows> TimelineCache::flows_of(const std::string& where,
                                                         const Kept& timeline,
                                                         const std::atomic<bool>& cancelled) {
    std::shared_ptr<Slot> slot;
    {
        const std::lock_guard lock(mutex_);
        slot = slot_of(where);
        if (slot->flows && slot->flows_revision == timeline->revision) {
            return slot->flows;
        }
    }
    KeptFlows flows;
    TRY(pool_.with(cancelled, [&](store::Database& database) -> Result<void> {
        TRY(TimelineFlows read, read_timeline_flows(database, *timeline, cancelled));
        flows = std::make_shared<const TimelineFlows>(std::move(read));
        return {};
    }));
    const std::lock_guard lock(mutex_);
    slot->flows = flows;
    slot->flows_revision = timeline->revision;
    return flows;
}

// The caller has set is_read.
Result<void> TimelineCache::read(Slot& slot, const std::atomic<bool>& cancelled) {
    const Clock::time_point begin = Clock::now();
    const std::shared_ptr<const TimelineRead> before = slot.last;  // only who reads writes it
    auto made = std::make_shared<TimelineRead>();
    Result<void> done = pool_.with(cancelled, [&](store::Database& database) -> Result<void> {
        TRY(const std::int64_t begin_ns, trace_.begin_ns(database));
        TRY(*made,
            read_timeline(database,
                          {.where = slot.where, .clock = clock_, .begin_ns = begin_ns},
                          before.get(),
                          slot.progress,
                          cancelled));
        return {};
    });
    const std::lock_guard lock(mutex_);
    slot.is_read = false;
    if (done.ok()) {
        made->timeline.revision = ++revision_;
        slot.timeline = Kept(made, &made->timeline);
        slot.last = std::move(made);
        slot.made = Clock::now();
        slot.took = slot.made - begin;
    }
    read_.notify_all();
    return done;
}

// One at a time. If it fails, what there is stays, and the next who asks tries again.
void TimelineCache::read_beside(const std::shared_ptr<Slot>& slot,
                                std::unique_lock<std::mutex>& lock) {
    if (is_beside_) {
        return;
    }
    is_beside_ = slot->is_read = true;
    lock.unlock();
    if (beside_.joinable()) {
        beside_.join();  // it is at its end
    }
    beside_ = std::thread([this, slot] {
        (void)read(*slot, is_ended_);
        const std::lock_guard ended(mutex_);
        is_beside_ = false;
    });
    lock.lock();
}

std::pair<std::uint64_t, std::uint64_t> TimelineCache::progress(const std::string& where) {
    const std::lock_guard lock(mutex_);
    for (const auto& slot : slots_) {
        if (slot->where == where && slot->is_read) {
            return {slot->progress.read, slot->progress.of};
        }
    }
    return {0, 0};
}

}  // namespace dyetrace::api
