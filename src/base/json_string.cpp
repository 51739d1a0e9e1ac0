#include "base/json_string.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <iterator>

#include "base/harmless.h"
#include "base/utf8.h"

namespace dyetrace::base {
namespace {

// Bytes that stay as they are whoever asks.
constexpr std::array<bool, 256> plain_bytes() {
    std::array<bool, 256> plain{};
    for (std::size_t byte = 0x20; byte < 0x7f; ++byte) {
        plain[byte] = byte != '"' && byte != '\\';
    }
    return plain;
}
constexpr std::array<bool, 256> kPlain = plain_bytes();

bool is_plain_in_json(char c) {
    return kPlain[static_cast<unsigned char>(c)];
}

void append_unit(std::string& out, char32_t unit) {
    fmt::format_to(std::back_inserter(out), "\\u{:04X}", static_cast<unsigned>(unit));
}

void append_code_point(std::string& out, char32_t value) {
    if (value > 0xffff) {  // a surrogate pair
        append_unit(out, 0xd800 + ((value - 0x10000) >> 10));
        append_unit(out, 0xdc00 + ((value - 0x10000) & 0x3ff));
    } else {
        append_unit(out, value);
    }
}

void append_json_escape(std::string& out, CodePoint point, char first_byte) {
    constexpr std::string_view kShort = "\b\f\n\r\t\"\\", kLetters = "bfnrt\"\\";
    const std::size_t at = point.value < 0x80 ? kShort.find(first_byte) : std::string_view::npos;
    if (at != std::string_view::npos) {
        out.push_back('\\');
        out.push_back(kLetters[at]);
    } else if (point.value == kNotUtf8) {
        append_harmless(out.append("\\"), {&first_byte, 1});
    } else {
        append_code_point(out, point.value);
    }
}

bool is_escaped(char32_t value, JsonEscapes escapes) {
    return value < 0x20 || value == '"' || value == '\\' || value == kNotUtf8 ||
           (escapes == JsonEscapes::kHarmful && is_harmful(value));
}

}  // namespace

void append_json_string(std::string& out, std::string_view text, JsonEscapes escapes) {
    out.push_back('"');
    std::size_t kept = 0;  // up to here it is in `out`
    for (std::size_t at = 0; at < text.size();) {
        if (is_plain_in_json(text[at])) {
            ++at;
            continue;
        }
        const CodePoint point = first_code_point(text.substr(at));
        if (is_escaped(point.value, escapes)) {
            out.append(text.substr(kept, at - kept));
            append_json_escape(out, point, text[at]);
            kept = at + point.bytes;
        }
        at += point.bytes;
    }
    out.append(text.substr(kept));
    out.push_back('"');
}

void append_harmless_json(std::string& out, std::string_view json) {
    std::size_t kept = 0;
    for (std::size_t at = 0; at < json.size();) {
        if (json[at] >= 0x20 && json[at] < 0x7f) {
            ++at;
            continue;
        }
        const CodePoint point = first_code_point(json.substr(at));
        if (point.value < 0x20) {  // in valid JSON it stands between values only
            out.append(json.substr(kept, at - kept)).append(" ");
            kept = at + 1;
        } else if (is_harmful(point.value)) {
            out.append(json.substr(kept, at - kept));
            append_json_escape(out, point, json[at]);
            kept = at + point.bytes;
        }
        at += point.bytes;
    }
    out.append(json.substr(kept));
}

}  // namespace dyetrace::base
