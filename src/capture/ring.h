// The reader's side of a ring in memory that the kernel writes (see src/kernel/helpers/emit.h).
//
//   0            tail              head          ring_bytes    + slack
//   |............|== records ======|.............|~~~~~~~~~~~~~|
//
// head and tail only grow. A record begins at head % ring_bytes and may run into the slack, so it is never split; what the
// reader gets are stretches of whole records.
//
// Limits: one reader. The kernel is trusted to write whole records; a length that cannot be is reported, the rest of the
// ring is given up, and the caller counts it as a gap.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "kernel/abi.h"
#include "schema/record.h"

namespace dyetrace::capture {

// One of the counters that the kernel may be writing.
inline std::uint64_t read_counter(const __u64& value) {
    return std::atomic_ref(const_cast<__u64&>(value)).load(std::memory_order_relaxed);
}

class Ring {
  public:
    Ring() = default;
    // `memory` is the ring and its slack; both must outlive this.
    Ring(std::span<const std::byte> memory, std::uint64_t ring_bytes, ring_control* control)
        : memory_(memory), ring_bytes_(ring_bytes), control_(control) {}

    // Where the kernel has got to.
    std::uint64_t head() const {
        return std::atomic_ref(control_->head).load(std::memory_order_acquire);
    }

    // Calls sink(span of whole records) for what lies before `end`, a former head(), or for all; then frees it. Returns the
    // bytes handed out; `damaged` grows by the bytes that were no record.
    template <typename Sink>
    std::uint64_t drain(std::uint64_t end, Sink&& sink, std::uint64_t& damaged) {
        const std::uint64_t head = std::min(end, this->head());
        std::uint64_t tail = control_->tail;
        const std::uint64_t begin = tail;
        while (tail < head) {
            const std::uint64_t length = stretch(tail, head);
            if (length == 0) {
                damaged += head - tail;
                tail = head;
            } else {
                sink(memory_.subspan(tail & (ring_bytes_ - 1), length));
                tail += length;
            }
            std::atomic_ref(control_->tail).store(tail, std::memory_order_release);
        }
        return tail - begin;
    }

    const ring_control& control() const { return *control_; }
    // Records for which there was no room.
    std::uint64_t lost() const {
        return std::atomic_ref(control_->lost).load(std::memory_order_relaxed);
    }
    // The kernel wakes the reader, once, when a share of the ring waits for it; false: so much waits already, do not sleep.
    bool ask_to_be_woken() {
        const std::uint64_t at = control_->tail + ring_bytes_ / kWakeShare;
        std::atomic_ref(control_->wake_at).store(at);
        return std::atomic_ref(control_->head).load() < at;  // not before that store
    }
    // Any thread may call it.
    std::uint64_t fill_bytes() const {
        const std::uint64_t tail = std::atomic_ref(control_->tail).load(std::memory_order_relaxed);
        return head() - tail;
    }
    std::uint64_t ring_bytes() const { return ring_bytes_; }
    // The share of the ring that is full, 0 to 1.
    double fill() const {
        return static_cast<double>(fill_bytes()) / static_cast<double>(ring_bytes_);
    }

  private:
    // A quarter: at a million events a second the smallest ring leaves 0.2 ms to wake up in, and has 0.1 ms for each wake-up.
    static constexpr std::uint64_t kWakeShare = 4;
    // What is walked over at once and then handed out, so that the sink finds it in the cache.
    static constexpr std::uint64_t kStretchBytes = 128 * 1024;

    // Bytes of whole records from `tail` on, up to the one that reaches the ring's end or fills a stretch.
    std::uint64_t stretch(std::uint64_t tail, std::uint64_t head) const {
        const std::uint64_t at = tail & (ring_bytes_ - 1);
        std::uint64_t length = 0;
        while (tail + length < head && at + length < ring_bytes_ && length < kStretchBytes) {
            std::uint32_t size = 0;
            std::memcpy(&size, memory_.data() + at + length, sizeof(size));
            if (size < sizeof(schema::RecordHeader) || size % 8 != 0 ||
                tail + length + size > head || at + length + size > memory_.size()) {
                break;
            }
            length += size;
        }
        return length;
    }

    std::span<const std::byte> memory_;
    std::uint64_t ring_bytes_ = 0;
    ring_control* control_ = nullptr;
};

}  // namespace dyetrace::capture
