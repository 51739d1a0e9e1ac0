// Durations and sizes as people write them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace dyetrace::base {

// "1500ms", "90s", "5m", "2h"; a number alone is seconds.
Result<std::chrono::nanoseconds> parse_duration(const std::string& text);

// "512K", "16M", "1G"; a number alone is bytes.
Result<std::uint64_t> parse_bytes(const std::string& text);

}  // namespace dyetrace::base
