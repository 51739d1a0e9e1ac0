#include "capture/dye.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/file.h"
#include "schema/generated/enum_names.h"

namespace dyetrace::capture {
namespace {

using base::Error;
using base::ErrorCode;
using schema::DyeForm;

constexpr std::string_view kHex = "hex:";
constexpr std::string_view kFormNames = "plain, nocase, base64, hex, utf16, url, json, all";
constexpr DyeForms kBase64 =
    form_bit(DyeForm::kBase640) | form_bit(DyeForm::kBase641) | form_bit(DyeForm::kBase642);
constexpr DyeForms kAll = (form_bit(DyeForm::kJson) << 1) - 1;

// 0: no form has this name.
DyeForms forms_of_name(std::string_view wanted) {
    constexpr std::pair<std::string_view, DyeForms> kForms[] = {
        {"plain", form_bit(DyeForm::kPlain)},
        {"nocase", form_bit(DyeForm::kNocase)},
        {"base64", kBase64},
        {"hex", form_bit(DyeForm::kHex)},
        {"utf16", form_bit(DyeForm::kUtf16le)},
        {"url", form_bit(DyeForm::kUrl)},
        {"json", form_bit(DyeForm::kJson)},
        {"all", kAll},
    };
    for (const auto& [name, forms] : kForms) {
        if (name == wanted) {
            return forms;
        }
    }
    return 0;
}

std::optional<std::string> bytes_of_digits(std::string_view digits) {
    std::string bytes;
    if (digits.size() % 2 != 0) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < digits.size(); i += 2) {
        unsigned value = 0;
        const char* const end = digits.data() + i + 2;
        if (std::from_chars(digits.data() + i, end, value, 16).ptr != end) {
            return std::nullopt;
        }
        bytes.push_back(static_cast<char>(value));
    }
    return bytes;
}

Result<std::string> text_of(const std::string& value) {
    if (value.starts_with(kHex)) {
        if (const auto bytes = bytes_of_digits(std::string_view(value).substr(kHex.size()))) {
            return *bytes;
        }
        return Error(ErrorCode::kInvalidArgument,
                     "a dye's hex: is followed by two hexadecimal digits for each byte");
    }
    if (!value.starts_with('@')) {
        return value;
    }
    TRY(std::string content, base::read_file(value.substr(1), DYE_BYTES_MAX + 2));
    if (content.ends_with('\n')) {
        content.pop_back();
    }
    if (content.ends_with('\r')) {
        content.pop_back();
    }
    return content;
}

// The characters that are the same whatever the `before` bytes in front are, and what comes after.
std::string base64(std::string_view text, std::size_t before, std::string_view last_two) {
    constexpr std::string_view kLetters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    const std::size_t first = (8 * before + 5) / 6, end = 8 * (before + text.size()) / 6;
    std::string result;
    for (std::size_t i = first; i < end; ++i) {
        unsigned value = 0;
        for (std::size_t bit = 6 * i; bit < 6 * i + 6; ++bit) {
            const auto byte = static_cast<unsigned char>(text[bit / 8 - before]);
            value = value << 1 | (byte >> (7 - bit % 8) & 1u);
        }
        result.push_back(value < kLetters.size() ? kLetters[value]
                                                 : last_two[value - kLetters.size()]);
    }
    return result;
}

std::string hex(std::string_view text) {
    std::string result;
    for (const char c : text) {
        result += fmt::format("{:02x}", static_cast<unsigned char>(c));
    }
    return result;
}

// Nothing where the text is not UTF-8.
std::optional<std::u16string> utf16(std::string_view text) {
    std::u16string result;
    for (std::size_t at = 0; at < text.size();) {
        const auto lead = static_cast<unsigned char>(text[at]);
        const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
        if ((lead >= 0x80 && lead < 0xc2) || lead > 0xf4 || at + length > text.size()) {
            return std::nullopt;
        }
        std::uint32_t code = length == 1 ? lead : lead & (0x7fu >> length);
        for (std::size_t i = 1; i < length; ++i) {
            const auto next = static_cast<unsigned char>(text[at + i]);
            if ((next & 0xc0) != 0x80) {
                return std::nullopt;
            }
            code = code << 6 | (next & 0x3f);
        }
        if (code >= 0x10000) {
            result.push_back(static_cast<char16_t>(0xd7c0 + (code >> 10)));
            result.push_back(static_cast<char16_t>(0xdc00 + (code & 0x3ff)));
        } else {
            result.push_back(static_cast<char16_t>(code));
        }
        at += length;
    }
    return result;
}

std::string utf16le(const std::u16string& units) {
    std::string result;
    for (const char16_t unit : units) {
        result.push_back(static_cast<char>(unit & 0xff));
        result.push_back(static_cast<char>(unit >> 8));
    }
    return result;
}

std::string url(std::string_view text, std::string_view digits, bool plus) {
    std::string result;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (letter || (c >= '0' && c <= '9') ||
            std::string_view("-._~").find(c) != std::string_view::npos) {
            result.push_back(c);
        } else if (c == ' ' && plus) {
            result.push_back('+');
        } else {
            result += {'%', digits[byte >> 4], digits[byte & 15]};
        }
    }
    return result;
}

std::string json_unit(char16_t unit) {
    constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
    const auto found = unit < 0x80 ? kEscaped.find(static_cast<char>(unit)) : std::string::npos;
    if (found != std::string::npos) {
        return {'\\', kLetters[found]};
    }
    return unit < 0x20 || unit >= 0x7f ? fmt::format("\\u{:04x}", static_cast<unsigned>(unit))
                                       : std::string(1, static_cast<char>(unit));
}

std::string json(const std::u16string& units) {
    std::string result;
    for (const char16_t unit : units) {
        result += json_unit(unit);
    }
    return result;
}

// Control characters and quotes only; the rest is UTF-8.
std::string json(std::string_view text) {
    std::string result;
    for (const char c : text) {
        const bool plain = static_cast<unsigned char>(c) >= 0x7f;
        result += plain ? std::string(1, c) : json_unit(static_cast<char16_t>(c));
    }
    return result;
}

// All ways to write it in one form.
std::vector<std::string> texts_of(DyeForm form, const std::string& text) {
    const auto units = utf16(text);
    switch (form) {
        case DyeForm::kPlain:
        case DyeForm::kNocase:
            return {text};
        case DyeForm::kBase640:
        case DyeForm::kBase641:
        case DyeForm::kBase642: {
            const auto before =
                static_cast<std::size_t>(form) - static_cast<std::size_t>(DyeForm::kBase640);
            return {base64(text, before, "+/"), base64(text, before, "-_")};
        }
        case DyeForm::kHex:
            return {hex(text)};
        case DyeForm::kUtf16le:
            return units ? std::vector{utf16le(*units)} : std::vector<std::string>{};
        case DyeForm::kUrl:
            return {url(text, "0123456789ABCDEF", false),
                    url(text, "0123456789abcdef", false),
                    url(text, "0123456789ABCDEF", true),
                    url(text, "0123456789abcdef", true)};
        case DyeForm::kJson:
            return units ? std::vector{json(text), json(*units)} : std::vector<std::string>{};
    }
    return {};
}

}  // namespace

Result<DyeForms> parse_dye_forms(std::string_view text) {
    DyeForms forms = form_bit(DyeForm::kPlain);
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(','));
        const DyeForms found = forms_of_name(word);
        if (found == 0) {
            return Error(ErrorCode::kInvalidArgument,
                         fmt::format("'{}' is no form of a dye; there are {}", word, kFormNames));
        }
        forms |= found;
        text.remove_prefix(std::min(text.size(), word.size() + 1));
    }
    return forms;
}

std::string dye_forms_text(DyeForms forms) {
    std::string text;
    for (std::uint8_t number = 0; DyeForms{1} << number <= kAll; ++number) {
        if ((forms >> number & 1) != 0) {
            text += text.empty() ? "" : ",";
            text += schema::dye_form_name(number);
        }
    }
    return text;
}

Result<Dye> parse_dye(const std::string& spec, DyeForms forms) {
    const std::size_t equals = spec.find('=');
    if (equals == std::string::npos || equals == 0 || equals > kDyeNameBytesMax) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("a dye is NAME=TEXT, NAME=hex:DIGITS or NAME=@FILE, with a name "
                                 "of 1 to {} bytes",
                                 kDyeNameBytesMax));
    }
    Dye dye{.name = spec.substr(0, equals), .text = {}, .forms = forms};
    auto text = text_of(spec.substr(equals + 1));
    if (!text.ok()) {
        return text.error().with_context(fmt::format("dye {}", dye.name));
    }
    dye.text = std::move(text).value();
    TRY(patterns_of(0, dye));
    return dye;
}

Result<std::vector<DyePattern>> patterns_of(std::uint32_t id, const Dye& dye) {
    std::vector<DyePattern> patterns;
    for (unsigned number = 0; DyeForms{1} << number <= kAll; ++number) {
        const auto form = static_cast<DyeForm>(number);
        const bool covered =
            form == DyeForm::kPlain && (dye.forms & form_bit(DyeForm::kNocase)) != 0;
        if ((dye.forms & form_bit(form)) == 0 || covered) {
            continue;
        }
        for (std::string& text : texts_of(form, dye.text)) {
            const bool any_case = form == DyeForm::kNocase || form == DyeForm::kHex;
            if (text.size() < DYE_BYTES_MIN || text.size() > DYE_BYTES_MAX) {
                return Error(
                    ErrorCode::kInvalidArgument,
                    fmt::format("dye {} has {} bytes as {}; a text that is looked for has {} to {}",
                                dye.name,
                                text.size(),
                                schema::dye_form_name(static_cast<std::uint8_t>(form)),
                                static_cast<int>(DYE_BYTES_MIN),
                                static_cast<int>(DYE_BYTES_MAX)));
            }
            const bool known =
                std::any_of(patterns.begin(), patterns.end(), [&](const DyePattern& pattern) {
                    return pattern.text == text && (pattern.any_case || !any_case);
                });
            if (!known) {
                patterns.push_back({id, form, std::move(text), any_case});
            }
        }
    }
    return patterns;
}

}  // namespace dyetrace::capture
