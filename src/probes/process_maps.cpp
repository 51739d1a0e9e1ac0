#include "probes/process_maps.h"

#include <algorithm>
#include <charconv>

namespace dyetrace::probes {
namespace {

// Takes words from the begin of a line, blanks before them too.
class LineWords {
  public:
    explicit LineWords(std::string_view line) : rest_(line) {}

    std::string_view word(std::string_view end_letters = " ") {
        const std::size_t begin = std::min(rest_.find_first_not_of(' '), rest_.size());
        rest_.remove_prefix(begin);
        const std::size_t end = std::min(rest_.find_first_of(end_letters), rest_.size());
        const std::string_view taken = rest_.substr(0, end);
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
        return taken;
    }

    bool number(std::uint64_t& value, int base, std::string_view end_letters = " ") {
        const std::string_view digits = word(end_letters);
        const char* end = digits.data() + digits.size();
        const auto [rest, error] = std::from_chars(digits.data(), end, value, base);
        return error == std::errc() && rest == end;
    }

    std::string_view rest() {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
        return rest_;
    }

  private:
    std::string_view rest_;
};

template <class Take>
void take_lines(std::string_view text, Take take) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        if (!take(text.substr(0, end))) return;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

}  // namespace

std::vector<ProcessMap> executable_maps(std::string_view text) {
    std::vector<ProcessMap> maps;
    take_lines(text, [&](std::string_view line) {
        LineWords words(line);
        ProcessMap map;
        if (!words.number(map.begin, 16, "-") || !words.number(map.end, 16)) return true;
        const std::string_view rights = words.word();
        if (rights.size() < 3 || rights[2] != 'x' || map.begin >= map.end) return true;
        if (!words.number(map.offset, 16)) return true;
        map.device = words.word();
        if (!words.number(map.inode, 10)) return true;
        map.path = words.rest();
        maps.push_back(std::move(map));
        return maps.size() < kMapsMax;
    });
    std::sort(
        maps.begin(), maps.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
    return maps;
}

const ProcessMap* map_of(const std::vector<ProcessMap>& maps, std::uint64_t address) {
    const auto after = std::upper_bound(
        maps.begin(), maps.end(), address, [](std::uint64_t a, const ProcessMap& map) {
            return a < map.begin;
        });
    if (after == maps.begin() || address >= std::prev(after)->end) return nullptr;
    return &*std::prev(after);
}

std::vector<JitFunction> jit_functions(std::string_view text) {
    std::vector<JitFunction> functions;
    take_lines(text, [&](std::string_view line) {
        LineWords words(line);
        JitFunction function;
        if (!words.number(function.begin, 16) || !words.number(function.size, 16)) return true;
        function.name = words.rest();
        if (!function.name.empty()) functions.push_back(std::move(function));
        return functions.size() < kJitFunctionsMax;
    });
    std::stable_sort(functions.begin(), functions.end(), [](const auto& a, const auto& b) {
        return a.begin < b.begin;
    });
    return functions;
}

const JitFunction* jit_function_of(const std::vector<JitFunction>& functions,
                                   std::uint64_t address) {
    const auto after = std::upper_bound(
        functions.begin(), functions.end(), address, [](std::uint64_t a, const JitFunction& each) {
            return a < each.begin;
        });
    if (after == functions.begin()) return nullptr;
    const JitFunction& found = *std::prev(after);
    return address - found.begin < found.size ? &found : nullptr;
}

}  // namespace dyetrace::probes
