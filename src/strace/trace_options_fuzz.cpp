// Any words as options of `dyetrace trace`, one a line: they are taken, or refused in words.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "strace/trace_options.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view rest(reinterpret_cast<const char*>(data), size);
    std::vector<std::string> words;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        words.emplace_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    const auto options = dyetrace::strace::parse_trace_options(words);
    CHECK(options.ok() || !options.error().text().empty());
    return 0;
}
