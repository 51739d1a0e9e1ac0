#include "api/database_pool.h"

#include <algorithm>

namespace dyetrace::api {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookEvery{20};  // whether it was cancelled

}  // namespace

struct DatabasePool::Seat {
    std::unique_ptr<store::Database> database;
    Clock::time_point looked;
    bool is_free = false;
};

DatabasePool::DatabasePool(Opener open, std::size_t databases_max)
    : open_(std::move(open)), most_(databases_max) {}

DatabasePool::~DatabasePool() = default;

// The first that is free: the others stay closed as long as it is enough.
Result<DatabasePool::Seat*> DatabasePool::take(const std::atomic<bool>& cancelled) {
    std::unique_lock lock(mutex_);
    while (true) {
        const auto found = std::find_if(
            seats_.begin(), seats_.end(), [](const auto& seat) { return seat->is_free; });
        if (found != seats_.end()) {
            (*found)->is_free = false;
            return found->get();
        }
        if (seats_.size() < most_) {
            seats_.push_back(std::make_unique<Seat>());
            return seats_.back().get();
        }
        if (cancelled) {
            return Error(ErrorCode::kInterrupted, "cancelled while it waited for others");
        }
        free_.wait_for(lock, kLookEvery);
    }
}

void DatabasePool::give_back(Seat& seat) {
    {
        const std::lock_guard lock(mutex_);
        seat.is_free = true;
    }
    free_.notify_one();
}

Result<void> DatabasePool::with(const std::atomic<bool>& cancelled,
                                const std::function<Result<void>(store::Database&)>& use) {
    TRY(Seat* const seat, take(cancelled));
    const auto run = [&]() -> Result<void> {
        if (!seat->database) {
            TRY(seat->database, open_());
            seat->looked = Clock::now();
        } else if (seat->database->state() == trace::TraceState::kRecording &&
                   Clock::now() - seat->looked >= kLookAgainAfter) {
            seat->looked = Clock::now();
            TRY(seat->database->refresh());
        }
        return use(*seat->database);
    };
    Result<void> done = run();
    give_back(*seat);
    return done;
}

}  // namespace dyetrace::api
