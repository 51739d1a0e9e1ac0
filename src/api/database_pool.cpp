#include "api/database_pool.h"

#include <algorithm>
#include <new>

namespace dyetrace::api {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookEvery{20};  // whether it was cancelled

// An answer that this process has no memory for is an error of that answer alone: whoever waits for its database gets it.
Result<void> as_result(const std::function<Result<void>()>& run) {
    try {
        return run();
    } catch (const std::bad_alloc&) {
        return Error(ErrorCode::kLimitReached,
                     "the answer needs more memory than the page may have: ask for less, or take "
                     "`dyetrace sql`");
    }
}

}  // namespace

struct DatabasePool::Slot {
    std::unique_ptr<store::Database> database;
    Clock::time_point looked;
    bool is_free = false;
};

DatabasePool::DatabasePool(Opener open, std::size_t databases_max, Opener open_larger)
    : open_(std::move(open)), open_larger_(std::move(open_larger)), most_(databases_max) {}

DatabasePool::~DatabasePool() = default;

// The first that is free: the others stay closed as long as it is enough.
Result<DatabasePool::Slot*> DatabasePool::take(const std::atomic<bool>& cancelled) {
    std::unique_lock lock(mutex_);
    while (true) {
        const auto found = std::find_if(
            slots_.begin(), slots_.end(), [](const auto& slot) { return slot->is_free; });
        if (found != slots_.end()) {
            (*found)->is_free = false;
            return found->get();
        }
        if (slots_.size() < most_) {
            slots_.push_back(std::make_unique<Slot>());
            return slots_.back().get();
        }
        if (cancelled) {
            return Error(ErrorCode::kInterrupted, "cancelled while it waited for others");
        }
        free_.wait_for(lock, kLookEvery);
    }
}

void DatabasePool::give_back(Slot& slot) {
    {
        const std::lock_guard lock(mutex_);
        slot.is_free = true;
    }
    free_.notify_all();
}

Result<void> DatabasePool::with_larger(const std::atomic<bool>& cancelled,
                                       const std::function<Result<void>(store::Database&)>& use) {
    {
        std::unique_lock lock(mutex_);
        while (is_larger_open_) {
            if (cancelled) {
                return Error(ErrorCode::kInterrupted, "cancelled while it waited for others");
            }
            free_.wait_for(lock, kLookEvery);
        }
        is_larger_open_ = true;
    }
    const auto run = [&]() -> Result<void> {
        TRY(const std::unique_ptr<store::Database> larger, open_larger_());
        return use(*larger);
    };
    Result<void> done = as_result(run);
    {
        const std::lock_guard lock(mutex_);
        is_larger_open_ = false;
    }
    free_.notify_all();
    return done;
}

Result<void> DatabasePool::with(const std::atomic<bool>& cancelled,
                                const std::function<Result<void>(store::Database&)>& use) {
    TRY(Slot* const slot, take(cancelled));
    const auto run = [&]() -> Result<void> {
        if (!slot->database) {
            TRY(slot->database, open_());
            slot->looked = Clock::now();
        } else if (slot->database->state() == trace::TraceState::kRecording &&
                   Clock::now() - slot->looked >= kLookAgainAfter) {
            slot->looked = Clock::now();
            TRY(slot->database->refresh());
        }
        return use(*slot->database);
    };
    Result<void> done = as_result(run);
    give_back(*slot);
    if (!done.ok() && done.error().code() == ErrorCode::kOutOfMemory && !cancelled) {
        return with_larger(cancelled, use);
    }
    return done;
}

}  // namespace dyetrace::api
