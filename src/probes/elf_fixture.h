// Makes small ELF files for tests: one loaded segment of code, and sections as a test wants them.
//
//   ElfFixture file;
//   file.add_note_section(".note.stapsdt", {…});
//   file.function("read_page", 0x20, 16);
//   write_file_atomically(path, file.bytes()).value();
//
// The code has kCodeBytes bytes; it stands at kCodeOffset in the file and is loaded at kCodeAddress.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace dyetrace::probes {

class ElfFixture {
  public:
    static constexpr std::uint64_t kCodeOffset = 0x1000, kCodeBytes = 0x1000;
    static constexpr std::uint64_t kCodeAddress = 0x401000;

#if defined(__aarch64__)
    Elf64_Half machine = EM_AARCH64;
#else
    Elf64_Half machine = EM_X86_64;
#endif

    void add_section(std::string name,
                     Elf64_Word type,
                     std::string content,
                     std::uint64_t address = 0,
                     Elf64_Word link = 0) {
        sections_.push_back({std::move(name), type, std::move(content), address, link});
    }

    // `begin` counts from kCodeAddress.
    void function(std::string_view name,
                  std::uint64_t begin,
                  std::uint64_t size,
                  int type = STT_FUNC) {
        Elf64_Sym symbol = {};
        symbol.st_name = static_cast<Elf64_Word>(names_.size());
        symbol.st_info = static_cast<unsigned char>((STB_GLOBAL << 4) | type);
        symbol.st_shndx = 1;
        symbol.st_value = kCodeAddress + begin;
        symbol.st_size = size;
        symbols_.append(reinterpret_cast<const char*>(&symbol), sizeof(symbol));
        names_.append(name);
        names_.push_back('\0');
    }

    static std::string note(std::string_view owner, Elf64_Word type, std::string_view content) {
        const Elf64_Nhdr header = {static_cast<Elf64_Word>(owner.size() + 1),
                                   static_cast<Elf64_Word>(content.size()),
                                   type};
        std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
        bytes += std::string(owner) + '\0';
        bytes.resize((bytes.size() + 3) / 4 * 4);
        bytes += content;
        bytes.resize((bytes.size() + 3) / 4 * 4);
        return bytes;
    }

    static std::string number(std::uint64_t value) {
        return {reinterpret_cast<const char*>(&value), sizeof(value)};
    }

    // A mark's note; addresses as they are written.
    static std::string mark(std::uint64_t location,
                            std::uint64_t base,
                            std::uint64_t semaphore,
                            std::string_view provider,
                            std::string_view name,
                            std::string_view arguments) {
        std::string content = number(location) + number(base) + number(semaphore);
        for (const std::string_view text : {provider, name, arguments}) {
            content += std::string(text) + '\0';
        }
        return note("stapsdt", 3, content);
    }

    // Symbols go to .symtab; a stripped file has them in .dynsym.
    std::string bytes(bool is_stripped = false) const {
        std::vector<Section> all = {{"", SHT_NULL, "", 0, 0}};
        all.push_back({".text", SHT_PROGBITS, std::string(kCodeBytes, '\x90'), kCodeAddress, 0});
        if (!symbols_.empty()) {
            all.push_back({is_stripped ? ".dynsym" : ".symtab",
                           static_cast<Elf64_Word>(is_stripped ? SHT_DYNSYM : SHT_SYMTAB),
                           std::string(sizeof(Elf64_Sym), '\0') + symbols_,
                           0,
                           3});
            all.push_back({".strtab", SHT_STRTAB, names_, 0, 0});
        }
        all.insert(all.end(), sections_.begin(), sections_.end());
        all.push_back({".shstrtab", SHT_STRTAB, "", 0, 0});
        return laid_out(all);
    }

  private:
    struct Section {
        std::string name;
        Elf64_Word type;
        std::string content;
        std::uint64_t address;
        Elf64_Word link;
    };

    template <class T>
    static void put(std::string& file, std::size_t at, const T& value) {
        std::memcpy(file.data() + at, &value, sizeof(value));
    }

    std::string laid_out(std::vector<Section> sections) const {
        std::string names;
        std::vector<Elf64_Shdr> headers(sections.size());
        for (std::size_t i = 0; i < sections.size(); ++i) {
            headers[i].sh_name = static_cast<Elf64_Word>(names.size());
            names += sections[i].name + '\0';
        }
        sections.back().content = names;
        std::string file(kCodeOffset, '\0');
        for (std::size_t i = 1; i < sections.size(); ++i) {
            const Section& section = sections[i];
            file.resize((file.size() + 7) / 8 * 8);
            headers[i].sh_type = section.type;
            headers[i].sh_flags = i == 1 ? SHF_ALLOC | SHF_EXECINSTR : 0;
            headers[i].sh_addr = section.address;
            headers[i].sh_offset = file.size();
            headers[i].sh_size = section.content.size();
            headers[i].sh_link = section.link;
            headers[i].sh_addralign = section.type == SHT_NOTE ? 4 : 8;
            const bool has_symbols = section.type == SHT_SYMTAB || section.type == SHT_DYNSYM;
            headers[i].sh_entsize = has_symbols ? sizeof(Elf64_Sym) : 0;
            file += section.content;
        }
        file.resize((file.size() + 7) / 8 * 8);
        put(file, 0, header(file.size(), headers.size()));
        put(file, sizeof(Elf64_Ehdr), segment());
        file.append(reinterpret_cast<const char*>(headers.data()),
                    headers.size() * sizeof(Elf64_Shdr));
        return file;
    }

    Elf64_Ehdr header(std::uint64_t sections_at, std::size_t sections) const {
        Elf64_Ehdr header = {};
        std::memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_CLASS] = ELFCLASS64;
        header.e_ident[EI_DATA] = ELFDATA2LSB;
        header.e_ident[EI_VERSION] = EV_CURRENT;
        header.e_type = ET_DYN;
        header.e_machine = machine;
        header.e_version = EV_CURRENT;
        header.e_phoff = sizeof(Elf64_Ehdr);
        header.e_shoff = sections_at;
        header.e_ehsize = sizeof(Elf64_Ehdr);
        header.e_phentsize = sizeof(Elf64_Phdr);
        header.e_phnum = 1;
        header.e_shentsize = sizeof(Elf64_Shdr);
        header.e_shnum = static_cast<Elf64_Half>(sections);
        header.e_shstrndx = static_cast<Elf64_Half>(sections - 1);
        return header;
    }

    static Elf64_Phdr segment() {
        Elf64_Phdr segment = {};
        segment.p_type = PT_LOAD;
        segment.p_flags = PF_R | PF_X;
        segment.p_offset = kCodeOffset;
        segment.p_vaddr = kCodeAddress;
        segment.p_filesz = segment.p_memsz = kCodeBytes;
        segment.p_align = kCodeOffset;
        return segment;
    }

    std::string names_ = std::string(1, '\0');
    std::string symbols_;
    std::vector<Section> sections_;
};

}  // namespace dyetrace::probes
