#include "base/clock.h"

#include <fmt/format.h>
#include <time.h>

#include <ctime>
#include <limits>

namespace dyetrace::base {
namespace {

int64_t read_clock_ns(clockid_t clock) {
    timespec now = {};
    CHECK(::clock_gettime(clock, &now) == 0);
    return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

int64_t boot_time_ns() {
    return read_clock_ns(CLOCK_BOOTTIME);
}
int64_t monotonic_time_ns() {
    return read_clock_ns(CLOCK_MONOTONIC);
}
int64_t wall_time_ns() {
    return read_clock_ns(CLOCK_REALTIME);
}

ClockSnapshot read_clock_snapshot() {
    ClockSnapshot best = {.uncertainty_ns = std::numeric_limits<int64_t>::max()};
    for (int reading = 0; reading < kClockReadings; ++reading) {
        const int64_t before_ns = boot_time_ns();
        const int64_t wall_ns = wall_time_ns();
        const int64_t half_ns = (boot_time_ns() - before_ns + 1) / 2;
        if (half_ns < best.uncertainty_ns) {
            best = {.boot_ns = before_ns + half_ns, .wall_ns = wall_ns, .uncertainty_ns = half_ns};
        }
    }
    return best;
}

std::string time_of_day(int64_t boot_ns) {
    const int64_t wall_ns = wall_time_ns() - (boot_time_ns() - boot_ns);
    const auto seconds = static_cast<std::time_t>(wall_ns / 1'000'000'000);
    std::tm parts{};
    localtime_r(&seconds, &parts);
    return fmt::format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace dyetrace::base
