// Structures that programs of other machines lay out in another way, as x86-64 has them, so that one function shows each.
//
//   stat of arm64: dev ino mode links uid gid rdev … 128 bytes ──► dev ino links mode uid gid … 144 bytes
//
// What has the same layout everywhere comes back as it is.
#pragma once

#include <string>
#include <string_view>

#include "schema/syscalls.h"

namespace dyetrace::format {

// `type`: a word of syscalls.toml. Empty where too few bytes are there.
std::string common_layout(schema::Abi abi, std::string_view type, std::string_view bytes);

// The flags that a program gave to open, or got of F_GETFL, as x86-64 numbers them.
std::uint64_t common_open_flags(schema::Abi abi, std::uint64_t flags);

}  // namespace dyetrace::format
