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

// Above C1; by code point. Unicode 15: Cf except the Arabic and other signs that are seen, Zl, Zp, and fillers.
constexpr HarmfulRange kHarmful[] = {
    {0x00ad, 0x00ad},    // soft hyphen
    {0x034f, 0x034f},    // combining grapheme joiner
    {0x061c, 0x061c},    // Arabic letter mark: direction
    {0x115f, 0x1160},    // Hangul fillers
    {0x17b4, 0x17b5},    // Khmer inherent vowels
    {0x180e, 0x180e},    // Mongolian vowel separator
    {0x200b, 0x200f},    // zero width, and marks of direction
    {0x2028, 0x202e},    // line and paragraph separators, embeddings and overrides of direction
    {0x2060, 0x206f},    // word joiner, invisible operators, isolates of direction
    {0x3164, 0x3164},    // Hangul filler
    {0xfdd0, 0xfdef},    // noncharacters
    {0xfeff, 0xfeff},    // byte order mark
    {0xffa0, 0xffa0},    // halfwidth Hangul filler
    {0xfff0, 0xfffb},    // unassigned and ignored, interlinear annotation
    {0xfffe, 0xffff},    // noncharacters; those of the other planes are found by their last digits
    {0x1bca0, 0x1bca3},  // shorthand format controls
    {0x1d173, 0x1d17a},  // musical format controls
    {0xe0000, 0xe00ff},  // tags
    {0xe01f0, 0xe0fff},  // ignored where unassigned
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
    if (code_point < 0xa0) {
        return code_point < 0x20 || code_point >= 0x7f;
    }
    const auto* const range =
        std::upper_bound(std::begin(kHarmful),
                         std::end(kHarmful),
                         code_point,
                         [](char32_t value, const HarmfulRange& r) { return value <= r.last; });
    return (range != std::end(kHarmful) && range->first <= code_point) ||
           (code_point & 0xfffe) == 0xfffe;  // kNotUtf8 too
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

}  // namespace dyetrace::base
