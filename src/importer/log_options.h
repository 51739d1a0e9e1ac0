// What the user says of logs that they do not say themselves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace dyetrace::importer {

inline constexpr std::uint64_t kDayNs = 86'400'000'000'000;

// The unit of Falcon's timestamps.
enum class TimeUnit : std::uint8_t { kNanoseconds, kMicroseconds, kMilliseconds, kSeconds };

struct LogOptions {
    std::optional<TimeUnit> time_unit = std::nullopt;  // nothing: found out
    std::int64_t day_ns = 0;    // 0:00 of the day on which a log of times of day begins, since 1970
    bool day_is_known = false;  // or it is 1970-01-01
    std::string host = "host";  // that a log of strace is of
};

}  // namespace dyetrace::importer
