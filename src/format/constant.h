// A number that has names, as -X says: by name, as a number, or both.
//
//   constant_text("open_flags", 0x241, Constants::kNames)      O_WRONLY|O_CREAT|O_TRUNC
//   constant_text("open_flags", 0x241, Constants::kNumbers)    0x241
//   constant_text("open_flags", 0x241, Constants::kBoth)       0x241 /* O_WRONLY|O_CREAT|O_TRUNC */
//   constant_text("access_mode", 8, Constants::kNames)         0x8 /* ?_OK */
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dyetrace::format {

enum class Constants : std::uint8_t { kNames, kNumbers, kBoth };

// `type` is a word of syscalls.toml; what is no set of names is shown as usual.
std::string constant_text(std::string_view type, std::uint64_t value, Constants constants);

// The same of a number whose names are made by the caller.
std::string constant_text(const std::string& number, std::string_view names, Constants constants);

// As C's %#03o: 000, 007, 0755.
std::string octal_text(std::uint64_t value);

// S_IFDIR|S_ISVTX|0777
std::string mode_text(std::uint32_t mode, Constants constants);

// MAP_PRIVATE|MAP_ANONYMOUS|21<<MAP_HUGE_SHIFT, MFD_HUGETLB|21<<MFD_HUGE_SHIFT
std::string map_flags_text(std::uint64_t value, Constants constants);
std::string memfd_flags_text(std::uint64_t value, Constants constants);

// IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 4)
std::string io_priority_text(std::uint32_t value);

// SO_ERROR, or 0x99 /* SO_??? */
std::string socket_option_text(std::uint64_t level, std::uint64_t option, Constants constants);

}  // namespace dyetrace::format
