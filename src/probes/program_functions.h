// The functions of a program or library, by the names that people give them, and where each begins.
//
//   TRY(const ProgramFunctions functions, ProgramFunctions::open("/usr/lib/postgresql/15/bin/postgres"));
//   TRY(auto found, functions.matching("exec_simple_query"));     found[0].offset: where a uprobe goes
//   functions.at(0x4f1c20)                                        the function that this address lies in
//
//   symbols of the file itself ─► none but exported ones? ─► those of its debug file ─► none? ─► its small compressed copy
//
// A name may be the linked one, the demangled one, or that without its parameters, and have *, ? and [a-z]. Functions that share their
// code are one function with several names. At most kFunctionsMax functions, whose names take kNameBytesMax.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "probes/debug_file.h"
#include "probes/elf_file.h"

namespace dyetrace::probes {

inline constexpr std::size_t kFunctionsMax = 4'000'000;  // Chromium with its debug data: 1,000,000
inline constexpr std::size_t kNameBytesMax = 1 << 30;

struct ProgramFunction {
    std::string name;           // as linked
    std::string shown;          // as its programmer writes it
    std::uint64_t offset = 0;   // in the file
    std::uint64_t address = 0;  // as linked, before the program is moved
    std::uint64_t size = 0;     // in bytes; 0 if nobody says

    bool operator==(const ProgramFunction&) const = default;
};

class ProgramFunctions {
  public:
    static Result<ProgramFunctions> open(const std::string& path,
                                         const std::string& debug_folder = kDebugFolder);

    // At least one, by offset. The error says why there is none, and which name is near.
    Result<std::vector<ProgramFunction>> matching(std::string_view glob) const;

    std::optional<ProgramFunction> at(std::uint64_t address) const;

    const ElfFile& file() const { return file_; }
    bool is_stripped() const { return is_stripped_; }  // only exported functions are known
    std::size_t size() const { return entries_.size(); }
    std::size_t memory_bytes() const { return names_.size() + entries_.size() * sizeof(Entry); }

  private:
    struct Entry {
        std::uint64_t address;
        std::uint32_t size;
        std::uint32_t name;  // where it begins in names_
    };

    explicit ProgramFunctions(ElfFile file) : file_(std::move(file)) {}
    Result<std::size_t> add_symbols(const ElfFile& source, GElf_Word section_type);
    Result<void> add_symbol(const GElf_Sym& symbol, std::string_view name);
    Result<void> add_stripped_symbols(const std::string& debug_folder);
    void put_in_order();
    const char* name_of(const Entry& entry) const { return names_.c_str() + entry.name; }
    ProgramFunction function_of(const Entry& entry, std::string shown) const;
    std::optional<ProgramFunction> named(const Entry& entry, const std::string& glob) const;
    Error none_matches(const std::string& glob) const;
    std::string indirect_hint(const std::string& name) const;
    std::string near_hint(const std::string& name) const;

    ElfFile file_;
    bool is_stripped_ = false;
    std::vector<Entry> entries_;  // by address, the name that people know best first
    std::string names_;           // each ends with a NUL
    std::vector<std::string>
        indirect_;  // chosen when the program starts (IFUNC): nobody calls them
};

}  // namespace dyetrace::probes
