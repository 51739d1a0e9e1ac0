#include "capture/load_talk.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace dyetrace::capture {
namespace {

constexpr std::size_t kLinesMax = 3;  // the instruction, the registers, what is wrong with them

std::string_view behind(std::string_view text, std::string_view mark) {
    const std::size_t at = text.find(mark);
    return at == std::string_view::npos ? std::string_view() : text.substr(at + mark.size());
}

}  // namespace

std::string verifier_refusal(std::string_view warning) {
    const std::string_view log = behind(warning, "-- BEGIN PROG LOAD LOG --\n");
    if (log.empty()) {
        return {};
    }
    const std::string_view quoted = behind(warning, "prog '");
    std::vector<std::string_view> lines;
    for (std::size_t at = 0; at < log.size();) {
        const std::size_t end = std::min(log.find('\n', at), log.size());
        const std::string_view line = log.substr(at, end - at);
        if (line.starts_with("processed ") || line.starts_with("-- END")) {
            break;
        }
        if (!line.empty()) {
            lines.push_back(line);
        }
        at = end + 1;
    }
    if (lines.empty()) {
        return {};
    }
    lines.erase(lines.begin(),
                lines.end() - static_cast<std::ptrdiff_t>(std::min(lines.size(), kLinesMax)));
    return fmt::format(
        "BPF program '{}': {}", quoted.substr(0, quoted.find('\'')), fmt::join(lines, "; "));
}

}  // namespace dyetrace::capture
