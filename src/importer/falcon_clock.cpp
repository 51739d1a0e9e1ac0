#include "importer/falcon_clock.h"

namespace dyetrace::importer {
namespace {

constexpr std::uint64_t kDayUs = kDayNs / 1000;
constexpr std::uint64_t kWallNsMin = 1'000'000'000'000'000'000;  // 2001-09-09
constexpr std::uint64_t kTimeNsMax = std::uint64_t{1} << 62;     // 2116

}  // namespace

TimeUnit unit_of(const FalconEvent& first) {
    if (!first.comm.empty()) {
        return TimeUnit::kNanoseconds;
    }
    if (first.pid && first.timestamp < kDayUs) {
        return TimeUnit::kMicroseconds;
    }
    const bool is_ms = first.timestamp >= 100'000'000'000 && first.timestamp < 10'000'000'000'000;
    return is_ms && !first.pid ? TimeUnit::kMilliseconds : TimeUnit::kNanoseconds;
}

std::uint64_t nanoseconds_in(TimeUnit unit) {
    switch (unit) {
        case TimeUnit::kSeconds:
            return 1'000'000'000;
        case TimeUnit::kMilliseconds:
            return 1'000'000;
        case TimeUnit::kMicroseconds:
            return 1'000;
        default:
            return 1;
    }
}

HostClock clock_from(std::uint64_t first_ns) {
    if (first_ns < kWallNsMin) {
        return {.wall_offset_ns = -static_cast<std::int64_t>(kDayNs), .has_wall_clock = false};
    }
    return {.wall_offset_ns = static_cast<std::int64_t>((first_ns / kDayNs - 1) * kDayNs),
            .has_wall_clock = true};
}

std::optional<std::uint64_t> time_on(const HostClock& clock,
                                     std::uint64_t timestamp,
                                     TimeUnit unit) {
    const std::uint64_t factor = nanoseconds_in(unit);
    if (timestamp > kTimeNsMax / factor) {
        return std::nullopt;
    }
    const std::int64_t since = static_cast<std::int64_t>(timestamp * factor) - clock.wall_offset_ns;
    return since > 0 ? std::optional(static_cast<std::uint64_t>(since)) : std::nullopt;
}

}  // namespace dyetrace::importer
