#include "base/utf8.h"

namespace dyetrace::base {
namespace {

// How many bytes a character has that begins with `first`, and between what its second byte must lie, so that it is no
// overlong form, no surrogate and not above U+10FFFF.
struct Form {
    std::size_t bytes;
    unsigned char second_first, second_last;
};

Form form_of(unsigned char first) {
    if (first >= 0xc2 && first <= 0xdf) return {2, 0x80, 0xbf};
    if (first == 0xe0) return {3, 0xa0, 0xbf};
    if (first == 0xed) return {3, 0x80, 0x9f};
    if (first >= 0xe1 && first <= 0xef) return {3, 0x80, 0xbf};
    if (first == 0xf0) return {4, 0x90, 0xbf};
    if (first == 0xf4) return {4, 0x80, 0x8f};
    if (first >= 0xf1 && first <= 0xf3) return {4, 0x80, 0xbf};
    return {0, 0, 0};
}

}  // namespace

CodePoint first_code_point(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    if (byte(0) < 0x80) return {byte(0), 1};
    const Form form = form_of(byte(0));
    if (form.bytes == 0 || text.size() < form.bytes || byte(1) < form.second_first ||
        byte(1) > form.second_last) {
        return {kNotUtf8, 1};
    }
    char32_t value = byte(0) & (0x7fu >> form.bytes);
    for (std::size_t i = 1; i < form.bytes; ++i) {
        if ((byte(i) & 0xc0u) != 0x80u) return {kNotUtf8, 1};
        value = (value << 6) | (byte(i) & 0x3fu);
    }
    return {value, form.bytes};
}

}  // namespace dyetrace::base
