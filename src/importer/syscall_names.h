// System calls and constants by the names that logs have for them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "schema/syscalls.h"

namespace dyetrace::importer {

// nullptr: this version knows none of that name. Where x86_64 has none, i386's.
const schema::SyscallInfo* find_call(std::string_view name);

// 2 for "ENOENT"; also what only tracers see ("ERESTARTSYS").
std::optional<std::int64_t> error_number(std::string_view name);

// The number of a text like "O_RDONLY|O_CREAT", "SIGCHLD", "0644", "-1", "NULL", "8192*1024", "0x10", "1<<20", as an argument of the type (a
// word of syscalls.toml). Nothing if a word of it has no number here.
std::optional<std::uint64_t> argument_number(std::string_view type, std::string_view text);

}  // namespace dyetrace::importer
