#include "store/interrupt_watch.h"

#include <chrono>

namespace dyetrace::store {
namespace {

constexpr std::chrono::milliseconds kLookEvery{20};

}  // namespace

InterruptWatch::InterruptWatch(duckdb_connection connection, const std::atomic<bool>* cancelled)
    : connection_(connection), cancelled_(cancelled) {
    if (cancelled_ != nullptr) {
        thread_ = std::thread([this] { look(); });
    }
}

InterruptWatch::~InterruptWatch() {
    if (!thread_.joinable()) {
        return;
    }
    {
        const std::lock_guard lock(mutex_);
        has_ended_ = true;
    }
    ending_.notify_one();
    thread_.join();
}

void InterruptWatch::look() {
    std::unique_lock lock(mutex_);
    while (!ending_.wait_for(lock, kLookEvery, [this] { return has_ended_; })) {
        if (cancelled_->load()) {
            duckdb_interrupt(connection_);
        }
    }
}

}  // namespace dyetrace::store
