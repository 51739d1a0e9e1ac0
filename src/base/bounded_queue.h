// Where two threads meet: first in, first out, never more than `capacity` elements.
//
//   BoundedQueue<Batch> queue(kBatchesMax);
//   producer   if (!queue.try_push(batch)) ++dropped;         never waits; push() waits for room
//   consumer   while (auto batch = queue.pop()) use(*batch);  waits; nothing once closed and drained
//   end        queue.close();
//
// Any number of threads on both sides. A refused element stays with the caller, who counts it:
// nothing is lost in silence. One lock per call (25 ns for a push and a pop with nobody else there:
// bounded_queue_bench), so hand over batches and not events.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/thread_annotations.h"

namespace dyetrace::base {

template <class T>
class BoundedQueue {
  public:
    explicit BoundedQueue(size_t capacity) : capacity_(capacity) { CHECK(capacity > 0); }

    // Moves from `element` and returns true, or leaves it alone: full or closed.
    [[nodiscard]] bool try_push(T& element) {
        {
            const MutexLock lock(mutex_);
            if (closed_ || elements_.size() == capacity_) return false;
            elements_.push_back(std::move(element));
        }
        arrived_.notify_one();
        return true;
    }

    // Waits for room. False, with `element` left alone, only when the queue is closed.
    [[nodiscard]] bool push(T& element) {
        {
            const MutexLock lock(mutex_);
            while (!closed_ && elements_.size() == capacity_) left_.wait(mutex_);
            if (closed_) return false;
            elements_.push_back(std::move(element));
        }
        arrived_.notify_one();
        return true;
    }

    // Waits for an element. Nothing when the queue is closed and empty.
    std::optional<T> pop() {
        std::optional<T> element;
        {
            const MutexLock lock(mutex_);
            while (!closed_ && elements_.empty()) arrived_.wait(mutex_);
            if (elements_.empty()) return std::nullopt;
            element = std::move(elements_.front());
            elements_.pop_front();
        }
        left_.notify_one();
        return element;
    }

    // Nothing enters any more; what is inside can still be popped. Wakes everybody. May be called
    // twice.
    void close() {
        {
            const MutexLock lock(mutex_);
            closed_ = true;
        }
        arrived_.notify_all();
        left_.notify_all();
    }

    size_t size() const {
        const MutexLock lock(mutex_);
        return elements_.size();
    }

  private:
    const size_t capacity_;
    mutable Mutex mutex_;
    std::condition_variable_any arrived_, left_;
    std::deque<T> elements_ GUARDED_BY(mutex_);
    bool closed_ GUARDED_BY(mutex_) = false;
};

}  // namespace dyetrace::base
