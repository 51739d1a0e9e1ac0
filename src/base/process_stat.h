// What /proc says of a process in numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace dyetrace::base {

// Words of /proc/PID/stat after the name, from 0; see proc(5).
enum class StatWord { kParent = 1, kStartTicks = 19 };

// `folder`: /proc/PID. Nothing if the process has ended.
std::optional<std::uint64_t> stat_of(const std::string& folder, StatWord word);

}  // namespace dyetrace::base
