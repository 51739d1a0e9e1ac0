#include "base/process_stat.h"

#include <charconv>

#include "base/file.h"

namespace dyetrace::base {
namespace {

constexpr std::size_t kStatFileBytesMax = 4096;

}  // namespace

// "4711 (a name) S 17 …": the name may have blanks and parentheses.
std::optional<std::uint64_t> stat_of(const std::string& folder, StatWord word) {
    const auto read = read_file(folder + "/stat", kStatFileBytesMax);
    if (!read.ok()) {
        return std::nullopt;
    }
    const std::string& stat = read.value();
    std::size_t at = stat.rfind(')');
    for (int i = -1; i < static_cast<int>(word) && at != std::string::npos; ++i) {
        at = stat.find(' ', at + 1);
    }
    if (at == std::string::npos) {
        return std::nullopt;
    }
    std::uint64_t number = 0;
    const auto [rest, error] =
        std::from_chars(stat.data() + at + 1, stat.data() + stat.size(), number);
    return error == std::errc() ? std::optional(number) : std::nullopt;
}

}  // namespace dyetrace::base
