#include "format/quote.h"

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

}  // namespace dyetrace::format
