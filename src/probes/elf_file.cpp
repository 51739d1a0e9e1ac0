#include "probes/elf_file.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <span>

#include "base/file.h"
#include "base/text.h"

namespace dyetrace::probes {
namespace {

constexpr std::size_t kSegmentsMax = 1024;  // a linker makes a dozen
constexpr std::size_t kBuildIdBytesMax = 64;
// libelf reads whole sections into memory, and a file that is mostly holes may say any size. Chromium's symbols take 300 MB.
constexpr std::uint64_t kSectionBytesMax = 2ULL << 30;

constexpr GElf_Half kElfMachine = kThisMachine == Machine::kArm64 ? EM_AARCH64 : EM_X86_64;

std::string machine_name(GElf_Half machine) {
    switch (machine) {
        case EM_X86_64:
            return "x86-64";
        case EM_AARCH64:
            return "arm64";
        default:
            const char* name = dwelf_elf_e_machine_string(machine);
            return name != nullptr ? name : fmt::format("machine {}", machine);
    }
}

Result<void> require_regular_file(const base::Fd& fd, const std::string& path) {
    struct stat status = {};
    if (::fstat(fd.get(), &status) != 0) return Error::from_errno(errno, "asking what a file is");
    if (S_ISREG(status.st_mode)) return {};
    return Error(ErrorCode::kInvalidArgument, fmt::format("'{}' is no file of a program", path));
}

Error not_a_program(const base::Fd& fd, const std::string& path) {
    std::string begin(2, 0);
    const auto read =
        base::read_up_to_at(fd, std::as_writable_bytes(std::span(begin.data(), begin.size())), 0);
    if (read.ok() && begin == "#!") {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("'{}' is a script: name the program that runs it", path));
    }
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("'{}' is no program or library (no ELF file)", path));
}

}  // namespace

Result<ElfFile> ElfFile::open(const std::string& path) {
    elf_version(EV_CURRENT);
    ElfFile file;
    file.path_ = path;
    // A pipe would otherwise be waited for.
    TRY(file.fd_, base::open_file(path, O_RDONLY | O_NONBLOCK));
    TRY(require_regular_file(file.fd_, path));
    file.elf_.reset(elf_begin(file.fd_.get(), ELF_C_READ, nullptr));
    if (file.elf_ == nullptr || elf_kind(file.elf_.get()) != ELF_K_ELF) {
        return not_a_program(file.fd_, path);
    }
    TRY(file.look());
    return file;
}

Result<ElfFile> ElfFile::of_memory(std::string bytes, std::string name) {
    elf_version(EV_CURRENT);
    ElfFile file;
    file.path_ = std::move(name);
    file.memory_ = std::make_unique<std::string>(std::move(bytes));
    file.elf_.reset(elf_memory(file.memory_->data(), file.memory_->size()));
    if (file.elf_ == nullptr || elf_kind(file.elf_.get()) != ELF_K_ELF) {
        return Error(ErrorCode::kCorrupt, fmt::format("'{}' is no ELF file", file.path_));
    }
    TRY(file.look());
    return file;
}

Result<void> ElfFile::look() {
    GElf_Ehdr header = {};
    if (gelf_getehdr(elf_.get(), &header) == nullptr) {
        return Error(ErrorCode::kCorrupt, fmt::format("'{}' is a damaged ELF file", path_));
    }
    if (gelf_getclass(elf_.get()) != ELFCLASS64 || header.e_machine != kElfMachine ||
        header.e_ident[EI_DATA] != ELFDATA2LSB) {
        const std::string_view bits = gelf_getclass(elf_.get()) == ELFCLASS64 ? "" : ", 32 bit";
        return Error(
            ErrorCode::kUnsupported,
            fmt::format("'{}' is a program for {}{}; only those for {}, 64 bit, are traced",
                        path_,
                        machine_name(header.e_machine),
                        bits,
                        machine_name(kElfMachine)));
    }
    std::size_t count = 0;
    if (elf_getphdrnum(elf_.get(), &count) != 0) count = 0;
    for (std::size_t i = 0; i < std::min(count, kSegmentsMax); ++i) {
        GElf_Phdr segment = {};
        if (gelf_getphdr(elf_.get(), static_cast<int>(i), &segment) == nullptr) break;
        if (segment.p_type != PT_LOAD) continue;
        segments_.push_back({segment.p_vaddr,
                             segment.p_offset,
                             std::min(segment.p_filesz, ~segment.p_vaddr),
                             (segment.p_flags & PF_X) != 0});
    }
    TRY(require_small_sections());
    const void* id = nullptr;
    const ssize_t id_bytes = dwelf_elf_gnu_build_id(elf_.get(), &id);
    if (id_bytes > 0) {
        const auto size = std::min(static_cast<std::size_t>(id_bytes), kBuildIdBytesMax);
        build_id_ = base::hex_text(std::span(static_cast<const std::byte*>(id), size));
    }
    return {};
}

Result<void> ElfFile::require_small_sections() const {
    ElfSection section;
    while ((section.handle = elf_nextscn(elf_.get(), section.handle)) != nullptr) {
        if (gelf_getshdr(section.handle, &section.header) == nullptr) continue;
        const GElf_Word type = section.header.sh_type;
        const bool is_read =
            type == SHT_STRTAB || type == SHT_SYMTAB || type == SHT_DYNSYM || type == SHT_NOTE;
        if (is_read && section.header.sh_size > kSectionBytesMax) {
            return Error(
                ErrorCode::kLimitReached,
                fmt::format(
                    "'{}' has names or notes of more than {} bytes", path_, kSectionBytesMax));
        }
    }
    return {};
}

std::optional<ElfSection> ElfFile::section(std::string_view name) const {
    std::size_t names = 0;
    if (elf_getshdrstrndx(elf_.get(), &names) != 0) return std::nullopt;
    ElfSection section;
    while ((section.handle = elf_nextscn(elf_.get(), section.handle)) != nullptr) {
        if (gelf_getshdr(section.handle, &section.header) == nullptr) continue;
        const char* its_name = elf_strptr(elf_.get(), names, section.header.sh_name);
        if (its_name != nullptr && name == its_name) return section;
    }
    return std::nullopt;
}

std::optional<ElfSection> ElfFile::section_of_type(GElf_Word type) const {
    ElfSection section;
    while ((section.handle = elf_nextscn(elf_.get(), section.handle)) != nullptr) {
        if (gelf_getshdr(section.handle, &section.header) != nullptr &&
            section.header.sh_type == type) {
            return section;
        }
    }
    return std::nullopt;
}

std::string_view ElfFile::bytes_of(std::string_view section_name) const {
    const auto found = section(section_name);
    return found ? bytes_of(*found) : std::string_view();
}

std::string_view ElfFile::bytes_of(const ElfSection& section) const {
    if (section.header.sh_type == SHT_NOBITS) return {};
    const Elf_Data* data = elf_rawdata(section.handle, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return {};
    return {static_cast<const char*>(data->d_buf), data->d_size};
}

const ElfFile::Segment* ElfFile::segment_of(std::uint64_t address) const {
    for (const Segment& segment : segments_) {
        if (address >= segment.address && address - segment.address < segment.size) return &segment;
    }
    return nullptr;
}

std::optional<std::uint64_t> ElfFile::offset_of(std::uint64_t address) const {
    const Segment* segment = segment_of(address);
    if (segment == nullptr) return std::nullopt;
    return segment->offset + (address - segment->address);
}

std::optional<std::uint64_t> ElfFile::address_of(std::uint64_t offset) const {
    for (const Segment& segment : segments_) {
        if (offset >= segment.offset && offset - segment.offset < segment.size) {
            return segment.address + (offset - segment.offset);
        }
    }
    return std::nullopt;
}

bool ElfFile::is_executable(std::uint64_t address) const {
    const Segment* segment = segment_of(address);
    return segment != nullptr && segment->is_executable;
}

}  // namespace dyetrace::probes
