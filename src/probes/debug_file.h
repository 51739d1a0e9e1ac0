// The file that holds what was stripped from a program: its symbols and its debugging data.
//
//   /usr/bin/cat   build id ab12cd…   ──►  /usr/lib/debug/.build-id/ab/12cd….debug
//                  .gnu_debuglink     ──►  cat.debug: beside it, in .debug/ beside it, in /usr/lib/debug/usr/bin/
//                  .gnu_debugdata     ──►  the file's own small copy of its symbols, compressed (mini_symbols)
//
// A file that is not of the same build (its build id, else its sum, says so) is passed over. Nothing is fetched from the network.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "probes/elf_file.h"

namespace dyetrace::probes {

inline constexpr const char* kDebugFolder = "/usr/lib/debug";

std::optional<ElfFile> find_debug_file(const ElfFile& program,
                                       const std::string& debug_folder = kDebugFolder);

// None if it has none; an error if they are damaged, or larger than any that a compiler made.
Result<std::optional<ElfFile>> mini_symbols(const ElfFile& program);

}  // namespace dyetrace::probes
