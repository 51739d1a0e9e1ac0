#include "probes/kernel_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/file.h"
#include "base/harmless.h"
#include "probes/kernel_folder.h"
#include "probes/near_names.h"

namespace dyetrace::probes {
namespace {

constexpr std::size_t kShownVariantsMax = 3;

std::string read_or_nothing(const Result<KernelFolder>& folder, const char* file) {
    return folder.ok() ? folder.value().read(file, kSymbolsBytesMax).value_or("") : "";
}

// The words of each line, as many as there are places for.
template <std::size_t kWords, class Take>
void for_each_line(std::string_view text, Take take) {
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        std::array<std::string_view, kWords> words;
        for (std::string_view& word : words) {
            line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t")));
            word = line.substr(0, line.find_first_of(" \t"));
            line.remove_prefix(word.size());
        }
        take(words);
    }
}

bool is_code(std::string_view type) {
    return type == "t" || type == "T" || type == "w" || type == "W";
}

// Tells symbols of programs that were loaded, and of marks that compilers put before functions.
bool is_no_function(std::string_view name, std::string_view module) {
    return name.empty() || module == "[bpf]" || module.starts_with("[__builtin__") ||
           name.starts_with("__pfx_") || name.starts_with("__cfi_") ||
           name.starts_with("__ftrace_invalid_address_");
}

}  // namespace

FunctionLists function_lists_of_this_kernel() {
    return {.available = read_or_nothing(KernelFolder::tracing(), "available_filter_functions"),
            .blacklist = read_or_nothing(KernelFolder::debugging(), "kprobes/blacklist"),
            .symbols = base::read_file("/proc/kallsyms", kSymbolsBytesMax).value_or("")};
}

KernelFunctions::KernelFunctions(const FunctionLists& lists)
    : knows_tracer_(!lists.available.empty()) {
    for_each_line<4>(lists.symbols, [&](const auto& words) {
        if (is_code(words[1]) && !is_no_function(words[2], words[3])) {
            functions_.emplace(words[2], Function());
        }
    });
    for_each_line<2>(lists.available, [&](const auto& words) {
        if (!is_no_function(words[0], words[1])) {
            functions_[std::string(words[0])].has_tracer = true;
        }
    });
    for_each_line<2>(lists.blacklist, [&](const auto& words) {
        if (!words[1].empty()) {
            functions_[std::string(words[1])].is_forbidden = true;
        }
    });
}

std::vector<std::string> KernelFunctions::matching(const std::string& pattern) const {
    std::vector<std::string> found;
    for (const auto& [name, function] : functions_) {
        if (!function.is_forbidden && matches_pattern(name, pattern)) {
            found.push_back(name);
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

Result<FunctionHook> KernelFunctions::hook_of(const std::string& name) const {
    if (const auto found = functions_.find(name); found != functions_.end()) {
        const auto [has_tracer, is_forbidden] = found->second;
        if (is_forbidden) {
            return Error(ErrorCode::kUnsupported,
                         fmt::format("the kernel forbids probes in its function '{}'", name));
        }
        return has_tracer      ? FunctionHook::kTracer
               : knows_tracer_ ? FunctionHook::kBreakpoint
                               : FunctionHook::kUnknown;
    }
    const std::string shown = base::make_harmless(name.substr(0, kPatternBytesMax));
    std::vector<std::string> variants;
    std::vector<std::string_view> names;
    for (const auto& [other, function] : functions_) {
        names.push_back(other);
        if (!name.empty() && other.starts_with(name + ".")) {
            variants.push_back(other);
        }
    }
    std::sort(variants.begin(), variants.end());
    variants.resize(std::min(variants.size(), kShownVariantsMax));
    if (!variants.empty()) {
        return Error(ErrorCode::kNotFound,
                     fmt::format("the kernel has no function '{}': the compiler made '{}' of it, "
                                 "whose arguments may be others",
                                 shown,
                                 fmt::join(variants, "', '")));
    }
    std::sort(names.begin(), names.end());  // which of two that are as near is told does not change
    return Error(ErrorCode::kNotFound,
                 fmt::format("the kernel has no function '{}'{}", shown, perhaps(name, names)));
}

}  // namespace dyetrace::probes
