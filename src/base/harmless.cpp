#include "base/harmless.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/utf8.h"

namespace dyetrace::base {
namespace {

struct HarmfulRange {
    char32_t first, last;
};

// The ranges are sorted by code point.
constexpr HarmfulRange kHarmful[] = {
#include "base/harmful_ranges.inc"
};

// Nothing else is worth a look; most text is only this.
bool is_seen_as_is(char c) {
    return c >= 0x20 && c < 0x7f;
}

void append_shown(std::string& out, CodePoint point, char first_byte) {
    const auto to = std::back_inserter(out);
    if (point.value == '\n' || point.value == '\t' || point.value == '\r') {
        out.append(point.value == '\n' ? "\\n" : point.value == '\t' ? "\\t" : "\\r");
    } else if (point.value < 0x80 || point.value == kNotUtf8) {
        fmt::format_to(to, "\\x{:02x}", static_cast<unsigned char>(first_byte));
    } else if (point.value <= 0xffff) {
        fmt::format_to(to, "\\u{:04x}", static_cast<unsigned>(point.value));
    } else {
        fmt::format_to(to, "\\u{{{:x}}}", static_cast<unsigned>(point.value));
    }
}

}  // namespace

bool is_harmful(char32_t code_point) {
    const auto* const range =
        std::upper_bound(std::begin(kHarmful),
                         std::end(kHarmful),
                         code_point,
                         [](char32_t value, const HarmfulRange& r) { return value <= r.last; });
    return range == std::end(kHarmful) ? code_point == kNotUtf8 : range->first <= code_point;
}

void append_harmless(std::string& out, std::string_view bytes) {
    std::size_t kept = 0;  // up to here it is in `out`
    for (std::size_t at = 0; at < bytes.size();) {
        if (is_seen_as_is(bytes[at])) {
            ++at;
            continue;
        }
        const CodePoint point = first_code_point(bytes.substr(at));
        if (is_harmful(point.value)) {
            out.append(bytes.substr(kept, at - kept));
            append_shown(out, point, bytes[at]);
            kept = at + point.bytes;
        }
        at += point.bytes;
    }
    out.append(bytes.substr(kept));
}

std::string make_harmless(std::string_view bytes) {
    std::string out;
    out.reserve(bytes.size());
    append_harmless(out, bytes);
    return out;
}

std::string make_lines_harmless(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of("\n\t"), text.size());
        append_harmless(out, text.substr(0, end));
        out += text.substr(end, 1);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

}  // namespace dyetrace::base
