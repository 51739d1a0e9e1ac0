#include "format/quote.h"

#include <algorithm>

namespace dyetrace::format {
namespace {

bool is_printable(unsigned char c) {
    return c >= 0x20 && c < 0x7f;
}
bool is_octal_digit(char c) {
    return c >= '0' && c <= '7';
}

// The letter that follows the backslash; 0: there is none.
char short_escape(char c) {
    switch (c) {
        case '\n':
            return 'n';
        case '\t':
            return 't';
        case '\r':
            return 'r';
        case '\v':
            return 'v';
        case '\f':
            return 'f';
        case '\\':
            return '\\';
        case '"':
            return '"';
        default:
            return 0;
    }
}

// Writes as few digits as the next character allows.
void append_octal(std::string& out, unsigned char byte, char next) {
    const bool all = is_octal_digit(next);
    out.push_back('\\');
    if (all || byte >= 0100) {
        out.push_back(static_cast<char>('0' + (byte >> 6)));
    }
    if (all || byte >= 010) {
        out.push_back(static_cast<char>('0' + ((byte >> 3) & 7)));
    }
    out.push_back(static_cast<char>('0' + (byte & 7)));
}

void append_escaped_byte(std::string& out, std::string_view bytes, std::size_t i) {
    if (const char letter = short_escape(bytes[i]); letter != 0) {
        out.push_back('\\');
        out.push_back(letter);
    } else if (is_printable(static_cast<unsigned char>(bytes[i]))) {
        out.push_back(bytes[i]);
    } else {
        append_octal(
            out, static_cast<unsigned char>(bytes[i]), i + 1 < bytes.size() ? bytes[i + 1] : '\0');
    }
}

void append_hex_byte(std::string& out, unsigned char byte) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    out.append("\\x");
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
}

bool is_text(std::string_view bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](char c) {
        return is_printable(static_cast<unsigned char>(c)) || (c >= '\t' && c <= '\r');
    });
}

}  // namespace

void append_quoted(
    std::string& out, std::string_view bytes, std::size_t bytes_max, bool cut, Quotes quotes) {
    const std::string_view shown = bytes.substr(0, bytes_max);
    const bool in_hex = quotes == Quotes::kHex || (quotes == Quotes::kHexIfAny && !is_text(shown));
    out.push_back('"');
    for (std::size_t i = 0; i < shown.size(); ++i) {
        if (in_hex) {
            append_hex_byte(out, static_cast<unsigned char>(shown[i]));
        } else {
            append_escaped_byte(out, shown, i);
        }
    }
    out.push_back('"');
    if (cut || shown.size() < bytes.size()) {
        out.append("...");
    }
}

void append_between(std::string& out, std::string_view bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i] == '<' || bytes[i] == '>') {
            append_octal(out,
                         static_cast<unsigned char>(bytes[i]),
                         i + 1 < bytes.size() ? bytes[i + 1] : '\0');
        } else {
            append_escaped_byte(out, bytes, i);
        }
    }
}

}  // namespace dyetrace::format
