#include "format/quote.h"

#include <array>

#include "schema/text.h"

namespace dyetrace::format {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

bool is_printable(unsigned char c) {
    return c >= 0x20 && c < 0x7f;
}
bool is_octal_digit(char c) {
    return c >= '0' && c <= '7';
}

// The letter behind the backslash; 0: there is none.
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

// As few digits as the next character allows.
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

void append_hex_bytes(std::string& out, std::string_view bytes) {
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        out.append("\\x");
        out.push_back(kHexDigits[byte >> 4]);
        out.push_back(kHexDigits[byte & 15]);
    }
}

// Bytes of the first character of valid UTF-8.
std::size_t character_length(std::string_view text) {
    const auto first = static_cast<unsigned char>(text[0]);
    return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

// Controls, and the marks that turn the direction of writing (U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069).
bool is_harmful(std::string_view character) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
    if (character.size() == 1) {
        return byte(0) < 0x20 || byte(0) == 0x7f;
    }
    if (character.size() == 2) {
        return byte(0) == 0xc2 && byte(1) < 0xa0;
    }
    if (character.size() == 3 && byte(0) == 0xe2) {
        return (byte(1) == 0x80 &&
                (byte(2) == 0x8e || byte(2) == 0x8f || (byte(2) >= 0xaa && byte(2) <= 0xae))) ||
               (byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9);
    }
    return false;
}

// The bytes of valid UTF-8 that `bytes` begins with; what escaped() leaves alone is valid.
std::size_t valid_length(std::string_view bytes) {
    constexpr std::size_t kCharacterMax = 4;
    for (std::size_t length = 1; length <= std::min(bytes.size(), kCharacterMax); ++length) {
        const std::string_view part = bytes.substr(0, length);
        if (part != "\\" && schema::escaped(part) == part) {
            return length;
        }
        if (part == "\\") {
            return 1;
        }
    }
    return 0;
}

}  // namespace

void append_quoted(std::string& out, std::string_view bytes, std::size_t bytes_max, bool cut) {
    const std::string_view shown = bytes.substr(0, bytes_max);
    out.push_back('"');
    for (std::size_t i = 0; i < shown.size(); ++i) {
        append_escaped_byte(out, shown, i);
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
        } else if (bytes[i] == '"') {
            out.push_back('"');
        } else {
            append_escaped_byte(out, bytes, i);
        }
    }
}

void append_json_string(std::string& out, std::string_view text) {
    out.push_back('"');
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out.push_back('\\');
            out.push_back(c);
        } else if (byte < 0x20 || byte == 0x7f) {
            out.append("\\u00");
            out.push_back(kHexDigits[byte >> 4]);
            out.push_back(kHexDigits[byte & 15]);
        } else {
            out.push_back(c);
        }
    }
    out.push_back('"');
}

std::string make_harmless(std::string_view bytes) {
    std::string out;
    out.reserve(bytes.size());
    while (!bytes.empty()) {
        const auto first = static_cast<unsigned char>(bytes[0]);
        std::size_t length = is_printable(first) ? 1 : first < 0x80 ? 0 : valid_length(bytes);
        if (length == 0 || is_harmful(bytes.substr(0, length))) {
            length = std::max<std::size_t>(length, 1);
            append_hex_bytes(out, bytes.substr(0, length));
        } else {
            length = character_length(bytes);
            out.append(bytes.substr(0, length));
        }
        bytes.remove_prefix(length);
    }
    return out;
}

}  // namespace dyetrace::format
