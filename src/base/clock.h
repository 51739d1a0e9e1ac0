// A time carries its clock.
//
//   Instant<HostClock>     nanoseconds of one host's CLOCK_BOOTTIME; it knows which host
//   Instant<ClusterClock>  nanoseconds since 1970 on the clock that analysis/clock makes of all hosts
//
// Times of different clocks neither compare nor subtract: between the two types it does not
// compile, between two hosts it aborts (DCHECK). Only analysis/clock converts. A span of time is
// plain: `duration_ns`.
//
//   const HostClock host{.host = 3};
//   const Instant<HostClock> begin(host, event.start_ns);
//   const Instant<HostClock> end = begin + event.duration_ns;
//   int64_t duration_ns = end - begin;
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "base/check.h"

namespace dyetrace::base {

struct HostClock {
    uint32_t host = 0;
    friend bool operator==(HostClock, HostClock) = default;
};

struct ClusterClock {
    friend bool operator==(ClusterClock, ClusterClock) = default;
};

template <class Clock>
class Instant {
  public:
    Instant(Clock clock, int64_t ns) : ns_(ns), clock_(clock) {}

    Clock clock() const { return clock_; }
    int64_t ns() const { return ns_; }

    friend Instant operator+(Instant instant, int64_t duration_ns) {
        return Instant(instant.clock_, instant.ns_ + duration_ns);
    }
    friend Instant operator-(Instant instant, int64_t duration_ns) {
        return instant + (-duration_ns);
    }
    friend int64_t operator-(Instant later, Instant earlier) {
        DCHECK(later.clock_ == earlier.clock_, "times of two hosts do not subtract");
        return later.ns_ - earlier.ns_;
    }
    friend std::strong_ordering operator<=>(Instant left, Instant right) {
        DCHECK(left.clock_ == right.clock_, "times of two hosts do not compare");
        return left.ns_ <=> right.ns_;
    }
    friend bool operator==(Instant left, Instant right) { return (left <=> right) == 0; }

  private:
    int64_t ns_;
    [[no_unique_address]] Clock clock_;
};

int64_t boot_time_ns();       // CLOCK_BOOTTIME: what events carry; counts while the machine sleeps
int64_t monotonic_time_ns();  // CLOCK_MONOTONIC: for timeouts and for measuring ourselves
int64_t wall_time_ns();       // CLOCK_REALTIME: since 1970; can jump

// Boot time and wall time of one moment: wall time is read between two readings of boot time.
//
//   boot ──────┬───────────┬──────▶     boot_ns = middle, uncertainty_ns = half the distance
//   wall ──────────▲──────────────▶     The best of kClockReadings tries.
struct ClockSnapshot {
    int64_t boot_ns = 0;
    int64_t wall_ns = 0;
    int64_t uncertainty_ns = 0;
};
inline constexpr int kClockReadings = 5;  // an interruption spoils one of them, hardly all
ClockSnapshot read_clock_snapshot();

// "14:03:22": a moment of boot_time_ns(), as a clock on the wall of this machine said.
std::string time_of_day(int64_t boot_ns);

}  // namespace dyetrace::base
