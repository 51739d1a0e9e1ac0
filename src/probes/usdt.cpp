#include "probes/usdt.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "base/spelling.h"

namespace dyetrace::probes {
namespace {

constexpr GElf_Word kStapsdtType = 3;
constexpr std::string_view kStapsdtOwner = "stapsdt";
constexpr std::size_t kAddressesBytes = 3 * sizeof(std::uint64_t);
constexpr std::size_t kMarksListed = 5;

using MarksByName = std::map<std::pair<std::string, std::string>, UsdtMark>;

Error damaged_note(const ElfFile& program) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("the marks (.note.stapsdt) of '{}' are damaged", program.path()));
}

// Up to its NUL; none if there is no NUL.
std::optional<std::string_view> take_text(std::string_view& rest) {
    const std::size_t end = rest.find('\0');
    if (end == rest.npos) return std::nullopt;
    const std::string_view text = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return text;
}

std::uint64_t address_in(std::string_view bytes, std::size_t index) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + index * sizeof(value), sizeof(value));
    return value;
}

Result<void> add_note(const ElfFile& program,
                      std::uint64_t base_now,
                      std::string_view note,
                      MarksByName& marks) {
    if (note.size() < kAddressesBytes) return damaged_note(program);
    const std::uint64_t base_then = address_in(note, 1);
    const std::uint64_t moved = base_now != 0 && base_then != 0 ? base_now - base_then : 0;
    std::string_view rest = note.substr(kAddressesBytes);
    const auto provider = take_text(rest), name = take_text(rest), arguments = take_text(rest);
    if (!provider || !name || !arguments) return damaged_note(program);
    UsdtPlace place;
    place.address = address_in(note, 0) + moved;
    const auto offset = program.offset_of(place.address);
    if (!offset) return damaged_note(program);
    place.offset = *offset;
    if (const std::uint64_t semaphore = address_in(note, 2); semaphore != 0) {
        const auto semaphore_offset = program.offset_of(semaphore + moved);
        if (!semaphore_offset) return damaged_note(program);
        place.semaphore = *semaphore_offset;
    }
    place.arguments_text = *arguments;
    MarkArguments read = mark_arguments(*arguments, kThisMachine);
    place.arguments = std::move(read.values);
    place.left_out = std::move(read.left_out);
    UsdtMark& mark = marks[{std::string(*provider), std::string(*name)}];
    mark.provider = *provider;
    mark.name = *name;
    mark.places.push_back(std::move(place));
    return {};
}

bool glob_matches(std::string_view glob, const std::string& name) {
    return glob == name || ::fnmatch(std::string(glob).c_str(), name.c_str(), 0) == 0;
}

}  // namespace

Result<std::vector<UsdtMark>> usdt_marks(const ElfFile& program) {
    const auto section = program.section(".note.stapsdt");
    if (!section || section->header.sh_type != SHT_NOTE) return std::vector<UsdtMark>();
    Elf_Data* data = elf_getdata(section->handle, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return damaged_note(program);
    const std::string_view bytes(static_cast<const char*>(data->d_buf), data->d_size);
    const auto base = program.section(".stapsdt.base");
    const std::uint64_t base_now = base ? base->header.sh_addr : 0;
    MarksByName marks;
    std::size_t places = 0;
    GElf_Nhdr header = {};
    std::size_t at = 0, name_at = 0, content_at = 0;
    while (at < bytes.size()) {
        const std::size_t next = gelf_getnote(data, at, &header, &name_at, &content_at);
        if (next <= at) return damaged_note(program);
        at = next;
        // The size of a name counts its NUL.
        const std::string_view owner =
            bytes.substr(name_at, std::max<std::size_t>(header.n_namesz, 1) - 1);
        if (header.n_type != kStapsdtType || owner != kStapsdtOwner) continue;
        if (++places > kMarkPlacesMax) {
            return Error(
                ErrorCode::kLimitReached,
                fmt::format("'{}' has more than {} marks", program.path(), kMarkPlacesMax));
        }
        TRY(add_note(program, base_now, bytes.substr(content_at, header.n_descsz), marks));
    }
    std::vector<UsdtMark> ordered;
    for (auto& [key, mark] : marks) ordered.push_back(std::move(mark));
    return ordered;
}

Result<std::vector<UsdtMark>> matching_marks(const ElfFile& program,
                                             const std::vector<UsdtMark>& marks,
                                             std::string_view provider_glob,
                                             std::string_view name_glob) {
    std::vector<UsdtMark> found;
    for (const UsdtMark& mark : marks) {
        if (glob_matches(provider_glob, mark.provider) && glob_matches(name_glob, mark.name)) {
            found.push_back(mark);
        }
    }
    if (!found.empty()) return found;
    if (marks.empty()) {
        return Error(ErrorCode::kNotFound, fmt::format("'{}' has no marks (USDT)", program.path()));
    }
    std::vector<std::string> names;
    for (const UsdtMark& mark : marks) names.push_back(mark.provider + ":" + mark.name);
    const std::string asked = fmt::format("{}:{}", provider_glob, name_glob);
    const std::string_view near =
        base::nearest_word(asked, std::vector<std::string_view>(names.begin(), names.end()));
    return Error(ErrorCode::kNotFound,
                 fmt::format("'{}' has no mark '{}'; {}",
                             program.path(),
                             asked,
                             near.empty() ? "it has " + listed_marks(marks, kMarksListed)
                                          : fmt::format("did you mean '{}'?", near)));
}

std::string listed_marks(const std::vector<UsdtMark>& marks, std::size_t most) {
    std::string text;
    for (std::size_t i = 0; i < std::min(most, marks.size()); ++i) {
        text += fmt::format("{}{}:{}", i == 0 ? "" : ", ", marks[i].provider, marks[i].name);
    }
    if (marks.size() > most) text += fmt::format(" and {} others", marks.size() - most);
    return text;
}

}  // namespace dyetrace::probes
