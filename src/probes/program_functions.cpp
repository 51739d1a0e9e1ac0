#include "probes/program_functions.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/spelling.h"
#include "probes/demangle.h"
#include "probes/usdt.h"

namespace dyetrace::probes {
namespace {

constexpr std::size_t kHintsMax = 3;
constexpr std::size_t kEarlierFunctionsTried = 8;  // a function may lie inside another

bool has_wildcards(std::string_view glob) {
    return glob.find_first_of("*?[") != glob.npos;
}

// "operator[]" and "[abi:cxx11]" are names too, so the same letters always match.
bool name_matches(const std::string& glob, const std::string& name) {
    return glob == name || ::fnmatch(glob.c_str(), name.c_str(), 0) == 0;
}

// "memcpy@@GLIBC_2.14" is memcpy.
std::string_view without_version(std::string_view name) {
    const std::size_t at = name.find('@');
    return at == name.npos || at == 0 ? name : name.substr(0, at);
}

// The part of a function that is seldom run and stands elsewhere; nobody calls it.
bool is_cold_part(std::string_view name) {
    const std::size_t at = name.rfind(".cold");
    if (at == name.npos) return false;
    const std::string_view rest = name.substr(at + 5);
    return rest.find_first_not_of(".0123456789") == rest.npos;
}

std::size_t leading_underscores(std::string_view name) {
    return std::min(name.find_first_not_of('_'), name.size());
}

}  // namespace

Result<ProgramFunctions> ProgramFunctions::open(const std::string& path,
                                                const std::string& debug_folder) {
    TRY(ElfFile file, ElfFile::open(path));
    ProgramFunctions functions(std::move(file));
    TRY(const std::size_t own, functions.add_symbols(functions.file_, SHT_SYMTAB));
    TRY(functions.add_symbols(functions.file_, SHT_DYNSYM));
    if (own == 0) TRY(functions.add_stripped_symbols(debug_folder));
    functions.put_in_order();
    return functions;
}

Result<void> ProgramFunctions::add_stripped_symbols(const std::string& debug_folder) {
    std::size_t found = 0;
    if (const auto debug = find_debug_file(file_, debug_folder)) {
        TRY(found, add_symbols(*debug, SHT_SYMTAB));
    }
    if (found == 0) {
        // Damaged ones are as good as none: the exported functions are known.
        const auto mini = mini_symbols(file_);
        if (mini.ok() && mini.value()) {
            TRY(found, add_symbols(*mini.value(), SHT_SYMTAB));
        }
    }
    is_stripped_ = found == 0;
    return {};
}

Result<std::size_t> ProgramFunctions::add_symbols(const ElfFile& source, GElf_Word section_type) {
    const auto section = source.section_of_type(section_type);
    if (!section) return std::size_t{0};
    Elf_Data* data = elf_getdata(section->handle, nullptr);
    if (data == nullptr) return std::size_t{0};
    const std::size_t before = entries_.size() + indirect_.size();
    const std::size_t count =
        std::min<std::size_t>(data->d_size / sizeof(Elf64_Sym), std::numeric_limits<int>::max());
    for (std::size_t i = 0; i < count; ++i) {
        GElf_Sym symbol = {};
        if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
        if (symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0) continue;
        const char* name = elf_strptr(source.handle(), section->header.sh_link, symbol.st_name);
        if (name != nullptr && *name != '\0') TRY(add_symbol(symbol, without_version(name)));
    }
    return entries_.size() + indirect_.size() - before;
}

Result<void> ProgramFunctions::add_symbol(const GElf_Sym& symbol, std::string_view name) {
    const unsigned char type = GELF_ST_TYPE(symbol.st_info);
    if (type == STT_GNU_IFUNC) {
        if (indirect_.size() < kFunctionsMax) indirect_.emplace_back(name);
        return {};
    }
    if (type != STT_FUNC || !file_.is_executable(symbol.st_value)) return {};
    if (entries_.size() >= kFunctionsMax || names_.size() + name.size() >= kNameBytesMax) {
        return Error(ErrorCode::kLimitReached,
                     fmt::format("'{}' has more than {} functions, or their names are larger than "
                                 "{} bytes",
                                 file_.path(),
                                 kFunctionsMax,
                                 kNameBytesMax));
    }
    const auto size = std::min<std::uint64_t>(symbol.st_size, UINT32_MAX);
    entries_.push_back({symbol.st_value,
                        static_cast<std::uint32_t>(size),
                        static_cast<std::uint32_t>(names_.size())});
    names_.append(name);
    names_.push_back('\0');
    return {};
}

void ProgramFunctions::put_in_order() {
    const auto key = [this](const Entry& entry) {
        const std::string_view name = name_of(entry);
        return std::tuple(entry.address, leading_underscores(name), name.size(), name, ~entry.size);
    };
    std::sort(entries_.begin(), entries_.end(), [&](const Entry& a, const Entry& b) {
        if (a.address != b.address) return a.address < b.address;
        return key(a) < key(b);
    });
    // .symtab repeats what .dynsym has.
    const auto is_same = [this](const Entry& a, const Entry& b) {
        return a.address == b.address &&
               std::string_view(name_of(a)) == std::string_view(name_of(b));
    };
    entries_.erase(std::unique(entries_.begin(), entries_.end(), is_same), entries_.end());
    entries_.shrink_to_fit();
    names_.shrink_to_fit();
    std::sort(indirect_.begin(), indirect_.end());
    indirect_.erase(std::unique(indirect_.begin(), indirect_.end()), indirect_.end());
}

ProgramFunction ProgramFunctions::function_of(const Entry& entry, std::string shown) const {
    return {name_of(entry),
            std::move(shown),
            file_.offset_of(entry.address).value_or(0),
            entry.address,
            entry.size};
}

std::optional<ProgramFunction> ProgramFunctions::named(const Entry& entry,
                                                       const std::string& glob) const {
    const std::string name = name_of(entry);
    if (is_cold_part(name) && glob != name) return std::nullopt;
    if (name_matches(glob, name)) {
        // One of its old versions may be a function (memcpy@GLIBC_2.2.5), which no program calls that was linked since.
        const bool is_old = std::binary_search(indirect_.begin(), indirect_.end(), name);
        return is_old ? std::nullopt : std::optional(function_of(entry, demangled(name)));
    }
    if (!name.starts_with("_Z") && !name.starts_with("_R")) return std::nullopt;
    std::string shown = demangled(name);
    if (name_matches(glob, shown) || name_matches(glob, std::string(without_parameters(shown)))) {
        return function_of(entry, std::move(shown));
    }
    return std::nullopt;
}

Result<std::vector<ProgramFunction>> ProgramFunctions::matching(std::string_view glob_given) const {
    const std::string glob(glob_given);
    std::vector<ProgramFunction> found;
    for (const Entry& entry : entries_) {
        // Aliases stand beside each other; the first that matches is the one that people know best.
        if (!found.empty() && found.back().address == entry.address) continue;
        if (auto function = named(entry, glob)) found.push_back(std::move(*function));
    }
    if (found.empty()) return none_matches(glob);
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
        return std::tie(a.offset, a.name) < std::tie(b.offset, b.name);
    });
    return found;
}

std::optional<ProgramFunction> ProgramFunctions::at(std::uint64_t address) const {
    auto after = std::upper_bound(
        entries_.begin(), entries_.end(), address, [](std::uint64_t a, const Entry& entry) {
            return a < entry.address;
        });
    const bool is_last = after == entries_.end();
    for (std::size_t i = 0; after != entries_.begin() && i < kEarlierFunctionsTried; ++i) {
        const std::uint64_t begin = std::prev(after)->address;
        const auto first = std::lower_bound(
            entries_.begin(), after, begin, [](const Entry& entry, std::uint64_t a) {
                return entry.address < a;
            });
        for (auto entry = first; entry != after; ++entry) {
            // Without a size it reaches to the next function.
            const bool is_inside = entry->size == 0 ? i == 0 && (!is_last || address == begin)
                                                    : address - begin < entry->size;
            if (is_inside) return function_of(*entry, demangled(name_of(*entry)));
        }
        after = first;
    }
    return std::nullopt;
}

Error ProgramFunctions::none_matches(const std::string& glob) const {
    const std::string& path = file_.path();
    if (std::binary_search(indirect_.begin(), indirect_.end(), glob)) {
        return Error(ErrorCode::kNotFound,
                     fmt::format("'{}' of '{}' stands for one of several functions, chosen for the "
                                 "processor when a program starts (IFUNC): probe that one{}",
                                 glob,
                                 path,
                                 indirect_hint(glob)));
    }
    std::string text = fmt::format("'{}' has no function '{}'", path, glob);
    if (has_wildcards(glob))
        text = fmt::format("'{}' has no function that is like '{}'", path, glob);
    if (!is_stripped_) return Error(ErrorCode::kNotFound, text + near_hint(glob));
    text = fmt::format("{}: it is stripped{}; install its debug symbols",
                       text,
                       entries_.empty() ? "" : ", and does not export one of this name");
    if (const auto marks = usdt_marks(file_); marks.ok() && !marks.value().empty()) {
        text += ", or probe it by its marks (USDT): " + listed_marks(marks.value(), kHintsMax);
    }
    return Error(ErrorCode::kNotFound, std::move(text));
}

std::string ProgramFunctions::indirect_hint(const std::string& name) const {
    std::string hint;
    std::size_t hints = 0;
    for (const Entry& entry : entries_) {
        const std::string_view candidate = name_of(entry);
        // The one that chooses has such a name too: __new_memcpy_ifunc.
        const bool is_one = candidate.find("_" + name + "_") != candidate.npos &&
                            !candidate.ends_with("_ifunc") && hints < kHintsMax;
        if (!is_one) continue;
        hint += fmt::format("{} '{}'", hints++ == 0 ? ", such as" : ",", candidate);
    }
    return hint.empty() ? "; its name is in the debug symbols" : hint;
}

std::string ProgramFunctions::near_hint(const std::string& name) const {
    if (has_wildcards(name)) return "";
    // Rows of letters are compared, so only names of about this length. Methods are meant by their name in C++.
    const std::size_t reach = std::max<std::size_t>(2, name.size() / 3);
    const bool is_demangled = name.find("::") != name.npos;
    std::vector<std::string> candidates;
    for (const Entry& entry : entries_) {
        std::string candidate = name_of(entry);
        if (is_demangled) candidate = without_parameters(demangled(candidate));
        const bool is_longer_beginning = name.size() > 2 && candidate.starts_with(name);
        if (is_longer_beginning ||
            (candidate.size() + reach >= name.size() && candidate.size() <= name.size() + reach)) {
            candidates.push_back(std::move(candidate));
        }
    }
    const std::vector<std::string_view> known(candidates.begin(), candidates.end());
    const std::string_view near = base::nearest_word(name, known);
    return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
}

}  // namespace dyetrace::probes
