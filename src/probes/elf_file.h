// An ELF file that is open: its sections, its segments, its build id. Programs and libraries of this machine, 64 bit.
//
//   TRY(const ElfFile file, ElfFile::open("/usr/bin/cat"));
//   file.offset_of(0x401020)          where the byte at this address stands in the file, which is where a uprobe goes
//   file.bytes_of(".note.stapsdt")    what a section holds
//
// Nothing of the file is believed: libelf checks what it reads against the file's size. The file is read, not mapped, as others may shorten it.
#pragma once

#include <gelf.h>
#include <libelf.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "probes/machine.h"

namespace dyetrace::probes {

struct ElfSection {
    Elf_Scn* handle = nullptr;
    GElf_Shdr header = {};
};

class ElfFile {
  public:
    static Result<ElfFile> open(const std::string& path);
    // `name` is for errors.
    static Result<ElfFile> of_memory(std::string bytes, std::string name);

    const std::string& path() const { return path_; }
    Elf* handle() const { return elf_.get(); }
    const std::string& build_id() const { return build_id_; }  // hexadecimal; empty if it has none

    std::optional<ElfSection> section(std::string_view name) const;
    std::optional<ElfSection> section_of_type(GElf_Word type) const;
    // Empty where there is none, or none in the file. Lives as long as this.
    std::string_view bytes_of(std::string_view section_name) const;
    std::string_view bytes_of(const ElfSection& section) const;

    // By the segments that are loaded; none for what does not stand in the file.
    std::optional<std::uint64_t> offset_of(std::uint64_t address) const;
    std::optional<std::uint64_t> address_of(std::uint64_t offset) const;
    bool is_executable(std::uint64_t address) const;

  private:
    struct End {
        void operator()(Elf* elf) const { elf_end(elf); }
    };
    struct Segment {
        std::uint64_t address, offset, size;
        bool is_executable;
    };

    ElfFile() = default;
    Result<void> look();
    Result<void> require_small_sections() const;
    const Segment* segment_of(std::uint64_t address) const;

    std::string path_;
    base::Fd fd_;
    std::unique_ptr<std::string> memory_;  // libelf points into it, so it must not move
    std::unique_ptr<Elf, End> elf_;
    std::string build_id_;
    std::vector<Segment> segments_;
};

}  // namespace dyetrace::probes
