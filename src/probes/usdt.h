// The marks that programmers put into programs for people who trace (USDT, sys/sdt.h): where they are and how their arguments are read.
//
//   TRY(const ElfFile postgres, ElfFile::open("/usr/lib/postgresql/15/bin/postgres"));
//   TRY(const std::vector<UsdtMark> marks, usdt_marks(postgres));
//   TRY(auto found, matching_marks(postgres, marks, "postgresql", "query__*"));
//   found[0].places[0].offset       a uprobe goes there;  .semaphore: where the program looks whether somebody listens, or 0
//
//   .note.stapsdt:  │ location │ .stapsdt.base │ semaphore │ "postgresql\0" "query__start\0" "8@%rdi\0" │ …
//                    addresses, as they were before a prelinker moved the program
//
// A mark that is inlined, or written twice, has several places. At most kMarkPlacesMax places.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "probes/elf_file.h"
#include "probes/usdt_arguments.h"

namespace dyetrace::probes {

inline constexpr std::size_t kMarkPlacesMax = 100'000;

struct UsdtPlace {
    std::uint64_t offset = 0;     // in the file
    std::uint64_t address = 0;    // as linked
    std::uint64_t semaphore = 0;  // in the file; 0: it has none
    std::string arguments_text;   // as the note has it
    std::vector<NamedValue> arguments;
    std::vector<LeftOutValue> left_out;
};

struct UsdtMark {
    std::string provider, name;
    std::vector<UsdtPlace> places;
};

// By provider and name; none if the program has no marks. Notes that are damaged are an error.
Result<std::vector<UsdtMark>> usdt_marks(const ElfFile& program);

// Both may have *, ? and [a-z]. At least one; the error says which ones there are.
Result<std::vector<UsdtMark>> matching_marks(const ElfFile& program,
                                             const std::vector<UsdtMark>& marks,
                                             std::string_view provider_glob,
                                             std::string_view name_glob);

// "postgresql:query__start, postgresql:query__done and 70 others"
std::string listed_marks(const std::vector<UsdtMark>& marks, std::size_t most);

}  // namespace dyetrace::probes
