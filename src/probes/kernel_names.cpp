#include "probes/kernel_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/file.h"

namespace dyetrace::probes {
namespace {

// The last symbol of the kernel or a module has no end; its largest function has 100 kB.
constexpr std::uint64_t kFunctionBytesMax = 1 << 20;

}  // namespace

Result<KernelNames> KernelNames::read(const std::string& path) {
    TRY(const std::string text, base::read_file(path, kKernelSymbolsBytesMax));
    KernelNames names;
    for (std::size_t at = 0; at < text.size() && names.size() < kKernelSymbolsMax;) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        names.add_line(std::string_view(text).substr(at, end - at));
        at = end + 1;
    }
    if (names.symbols_.empty()) {
        return Error(
            ErrorCode::kPermissionDenied,
            fmt::format("'{}' tells no addresses, so functions of the kernel have no names: "
                        "be root, with sysctl kernel.kptr_restrict at 0 or 1",
                        path));
    }
    std::stable_sort(names.symbols_.begin(),
                     names.symbols_.end(),
                     [](const Symbol& a, const Symbol& b) { return a.address < b.address; });
    names.symbols_.shrink_to_fit();
    return names;
}

// "ffffffff81234567 t xfs_file_read_iter\t[xfs]". Other kinds than t and w are data.
void KernelNames::add_line(std::string_view line) {
    Symbol symbol = {0, static_cast<std::uint32_t>(names_.size())};
    const char* end = line.data() + line.size();
    const auto [rest, error] = std::from_chars(line.data(), end, symbol.address, 16);
    if (error != std::errc() || symbol.address == 0 || end - rest < 4) return;
    const char kind = static_cast<char>(rest[1] | 0x20);
    if (rest[0] != ' ' || rest[2] != ' ' || (kind != 't' && kind != 'w')) return;
    const std::string_view name(rest + 3, static_cast<std::size_t>(end - rest - 3));
    const std::size_t tab = name.find('\t');
    names_ += name.substr(0, tab);
    if (tab != name.npos) {
        names_ += ' ';
        names_ += name.substr(tab + 1);
    }
    names_ += '\0';
    symbols_.push_back(symbol);
}

std::string KernelNames::name_of(std::uint64_t address) const {
    const auto after = std::upper_bound(
        symbols_.begin(), symbols_.end(), address, [](std::uint64_t a, const Symbol& symbol) {
            return a < symbol.address;
        });
    if (after == symbols_.begin() || address - std::prev(after)->address > kFunctionBytesMax) {
        return fmt::format("{:#x}", address);
    }
    // Where several names have one address, the first of the file stays.
    const std::uint64_t begin = std::prev(after)->address;
    const auto first =
        std::lower_bound(symbols_.begin(), after, begin, [](const Symbol& symbol, std::uint64_t a) {
            return symbol.address < a;
        });
    return names_.c_str() + first->name;
}

}  // namespace dyetrace::probes
