#include "probes/demangle.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <utility>

#include "probes/demangle_rust.h"

namespace dyetrace::probes {
namespace {

// Longer ones exist, and are of no use to people; a name may stand for a text that is far longer than itself.
constexpr std::size_t kLinkedBytesMax = 4096;

constexpr std::size_t kRustHashLetters = 16;

// Rust's older names are C++'s with a hash at their end: core::fmt::write::h0123456789abcdef.
bool ends_in_rust_hash(std::string_view shown) {
    if (shown.size() < kRustHashLetters + 3) return false;
    const std::string_view end = shown.substr(shown.size() - kRustHashLetters - 3);
    return end.starts_with("::h") && std::all_of(end.begin() + 3, end.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

// What stands for letters that a linker does not take: $LT$ is <, $u7b$ is {.
std::string unescaped_rust(std::string_view shown) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kEscapes = {
        {{"$LT$", "<"},
         {"$GT$", ">"},
         {"$RF$", "&"},
         {"$BP$", "*"},
         {"$SP$", "@"},
         {"$C$", ","},
         {"$LP$", "("},
         {"$RP$", ")"}}};
    std::string text;
    while (!shown.empty()) {
        const auto escape = std::find_if(kEscapes.begin(), kEscapes.end(), [&](const auto& each) {
            return shown.starts_with(each.first);
        });
        if (escape != kEscapes.end()) {
            text += escape->second;
            shown.remove_prefix(escape->first.size());
        } else if (shown.starts_with("..")) {
            text += "::";
            shown.remove_prefix(2);
        } else if (shown.starts_with("_$") && (text.empty() || text.ends_with("::"))) {
            shown.remove_prefix(1);
        } else if (std::uint32_t letter = 0; shown.starts_with("$u")) {
            const char* end = shown.data() + shown.size();
            const auto [after, error] = std::from_chars(shown.data() + 2, end, letter, 16);
            const bool is_escape =
                error == std::errc() && after != end && *after == '$' && letter < 0x80;
            text += is_escape ? static_cast<char>(letter) : '$';
            shown.remove_prefix(is_escape ? static_cast<std::size_t>(after - shown.data()) + 1 : 1);
        } else {
            text += shown.front();
            shown.remove_prefix(1);
        }
    }
    return text;
}

}  // namespace

std::string demangled(const std::string& linked) {
    if (linked.size() > kLinkedBytesMax) return linked;
    if (linked.starts_with("_R")) return demangled_rust(linked).value_or(linked);
    if (!linked.starts_with("_Z")) return linked;
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> shown(
        abi::__cxa_demangle(linked.c_str(), nullptr, nullptr, &status), &std::free);
    if (status != 0 || shown == nullptr) return linked;
    const std::string_view text = shown.get();
    if (!ends_in_rust_hash(text)) return std::string(text);
    return unescaped_rust(text.substr(0, text.size() - kRustHashLetters - 3));
}

std::string_view without_parameters(std::string_view shown) {
    // A copy that the compiler made: "read(int) [clone .cold]".
    if (const auto clone = shown.find(" [clone "); clone != shown.npos) {
        shown = shown.substr(0, clone);
    }
    const std::size_t end = shown.rfind(')');
    if (end == shown.npos) return shown;
    std::size_t begin = end;
    for (int depth = 0;; --begin) {
        depth += shown[begin] == ')' ? 1 : shown[begin] == '(' ? -1 : 0;
        if (depth == 0) break;
        if (begin == 0) return shown;
    }
    if (begin == 0) return shown;
    std::string_view name = shown.substr(0, begin);
    // A mark of GCC's, not of the programmer: "text[abi:cxx11](int)".
    if (const auto mark = name.rfind("[abi:"); mark != name.npos && name.ends_with(']')) {
        name = name.substr(0, mark);
    }
    if (!name.ends_with('>') || name.find("operator") != name.npos) return name;
    // Only functions made from templates say what they return.
    int depth = 0;
    for (std::size_t at = name.size(); at > 0; --at) {
        const char letter = name[at - 1];
        depth += letter == '>' || letter == ')' || letter == '}' ? 1 : 0;
        depth -= letter == '<' || letter == '(' || letter == '{' ? 1 : 0;
        if (letter == ' ' && depth == 0) return name.substr(at);
    }
    return name;
}

}  // namespace dyetrace::probes
