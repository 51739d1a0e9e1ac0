// What became of the events of a CPU since Capture::load(): each of them is in exactly one place.
//
//   generated = filtered + aggregated + delivered + lost
//
//   stage       what it adds
//   kernel      all four, in the control block of the CPU's ring; what TCP sends again has a ring of its own
//   capture     lost, and not_run: calls for which the kernel ran no program · filtered: what carries no dye, then what is not selected
//   recorder    lost, and unwritten: what the disk did not take
//
// A stage that gets what the one before it delivered can only pass on less: leave_out(), lose(), fail_to_write(). Sources, and CPUs,
// are added up.
#pragma once

#include <algorithm>
#include <cstdint>

namespace dyetrace::capture {

struct Accounting {
    std::uint64_t generated = 0;
    std::uint64_t filtered = 0;
    std::uint64_t aggregated = 0;
    std::uint64_t delivered = 0;
    std::uint64_t lost = 0;
    std::uint64_t unwritten = 0;        // of lost: the disk did not take them
    std::uint64_t not_run = 0;          // of lost: the kernel ran no program for them
    std::uint64_t retransmissions = 0;  // of delivered; they are no events
    std::uint64_t facts_delivered = 0;
    std::uint64_t facts_lost = 0;
    std::uint64_t last_lost_ns = 0;

    void leave_out(std::uint64_t events) {
        delivered -= events;
        filtered += events;
    }
    void lose(std::uint64_t events) {
        delivered -= events;
        lost += events;
    }
    void fail_to_write(std::uint64_t events) {
        lose(events);
        unwritten += events;
    }

    std::uint64_t lost_by_rings() const { return lost - unwritten - not_run; }

    Accounting& operator+=(const Accounting& other) {
        generated += other.generated;
        filtered += other.filtered;
        aggregated += other.aggregated;
        delivered += other.delivered;
        lost += other.lost;
        unwritten += other.unwritten;
        not_run += other.not_run;
        retransmissions += other.retransmissions;
        facts_delivered += other.facts_delivered;
        facts_lost += other.facts_lost;
        last_lost_ns = std::max(last_lost_ns, other.last_lost_ns);
        return *this;
    }

    // While the kernel writes, its counters are read one after another: only when it is stopped they must close.
    bool closes() const { return generated == filtered + aggregated + delivered + lost; }
};

// What became of payload, in bytes: generated = delivered + lost.
struct PayloadAccounting {
    std::uint64_t generated = 0;
    std::uint64_t delivered = 0;
    std::uint64_t lost = 0;  // the rings were full
};

}  // namespace dyetrace::capture
