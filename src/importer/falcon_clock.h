// What the timestamps of a log of Falcon's kind mean, and the clock of a host that they make.
//
//   | who wrote it | timestamp | told by |
//   | CatBpf | nanoseconds since the host booted | `comm` in its events |
//   | CatStrace | microseconds since 0:00 | a `pid`, no `comm`, less than a day |
//   | Falcon's tracer, its appender for log4j | milliseconds since 1970 | neither; 10^11 to 10^13 |
//   | anybody else | nanoseconds | |
//
// Whatever is after the year 2001 as nanoseconds since 1970 is wall clock. A trace counts from a boot on: that is taken to be a day or two before
// the first event, and a day before 0 where there is no wall clock, so that there is room for the map of clocks.
#pragma once

#include <cstdint>
#include <optional>

#include "importer/falcon_event.h"
#include "importer/log_options.h"

namespace dyetrace::importer {

TimeUnit unit_of(const FalconEvent& first_of_file);
std::uint64_t nanoseconds_in(TimeUnit unit);

struct HostClock {
    std::int64_t wall_offset_ns = 0;  // wall clock, or what the log has, minus what the trace has
    bool has_wall_clock = false;
};

HostClock clock_from(std::uint64_t first_ns);

// On the clock; nothing if it is before it, or so late that it is no time.
std::optional<std::uint64_t> time_on(const HostClock& clock,
                                     std::uint64_t timestamp,
                                     TimeUnit unit);

}  // namespace dyetrace::importer
