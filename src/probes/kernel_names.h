// Names for addresses in the kernel, from /proc/kallsyms.
//
//   auto names = KernelNames::read();            an error if this user is not told addresses: kernel.kptr_restrict
//   names.value().name_of(0xffffffff81234567)    "vfs_read"; of a module: "xfs_file_read_iter [xfs]"; unknown: "0xffffffff81234567"
//
// Who cannot read them uses KernelNames(), which knows none, and says the error once. An address that was returned to lies after the call that it is
// of: ask for the byte before it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace dyetrace::probes {

inline constexpr std::size_t kKernelSymbolsMax =
    4'000'000;  // Debian's kernel with all modules: 250,000
inline constexpr std::size_t kKernelSymbolsBytesMax = 512 << 20;

class KernelNames {
  public:
    static Result<KernelNames> read(const std::string& path = "/proc/kallsyms");
    KernelNames() = default;

    std::string name_of(std::uint64_t address) const;
    std::size_t size() const { return symbols_.size(); }

  private:
    struct Symbol {
        std::uint64_t address;
        std::uint32_t name;  // where it begins in names_
    };

    void add_line(std::string_view line);

    std::vector<Symbol> symbols_;  // by address
    std::string names_;            // each ends with a NUL
};

}  // namespace dyetrace::probes
