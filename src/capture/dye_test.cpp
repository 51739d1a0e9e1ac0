#include "capture/dye.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "schema/generated/enum_names.h"

namespace dyetrace::capture {
namespace {

// "form text" of each.
std::vector<std::string> forms(const std::string& text, const char* asked) {
    const auto dye = parse_dye("x=" + text, parse_dye_forms(asked).value());
    EXPECT_TRUE(dye.ok()) << dye.error().text();
    const std::vector<DyePattern> patterns = patterns_of(1, dye.value()).value();
    std::vector<std::string> result;
    result.reserve(patterns.size());
    for (const DyePattern& pattern : patterns) {
        result.push_back(
            std::string(schema::dye_form_name(static_cast<std::uint8_t>(pattern.form))) + " " +
            pattern.text);
    }
    return result;
}

using Texts = std::vector<std::string>;

TEST(Dye, has_its_forms) {
    EXPECT_EQ(forms("card", ""), (Texts{"plain card"}));
    EXPECT_EQ(forms("card", "nocase"), (Texts{"nocase card"}));
    EXPECT_EQ(forms("card", "hex"), (Texts{"plain card", "hex 63617264"}));
    EXPECT_EQ(forms("card", "url,json"), (Texts{"plain card"}));
    EXPECT_EQ(forms("a b/\xc3\xa9", "url"),
              (Texts{"plain a b/\xc3\xa9",
                     "url a%20b%2F%C3%A9",
                     "url a%20b%2f%c3%a9",
                     "url a+b%2F%C3%A9",
                     "url a+b%2f%c3%a9"}));
    EXPECT_EQ(forms("\"\n\x01\xc3\xa9", "json"),
              (Texts{"plain \"\n\x01\xc3\xa9",
                     "json \\\"\\n\\u0001\xc3\xa9",
                     "json \\\"\\n\\u0001\\u00e9"}));
    EXPECT_EQ(forms("h\xc3\xa9!", "utf16"),
              (Texts{"plain h\xc3\xa9!", std::string("utf16le h\0\xe9\0!\0", 14)}));
    EXPECT_EQ(forms("\xff\xfe\xfd\xfc", "utf16,json").size(), 1u);  // no text
}

std::string base64_of(std::string_view text) {
    constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string result;
    unsigned bits = 0, count = 0;
    for (const char c : text) {
        bits = bits << 8 | static_cast<unsigned char>(c);
        for (count += 8; count >= 6; count -= 6) {
            result.push_back(kLetters[bits >> (count - 6) & 63]);
        }
    }
    if (count > 0) {
        result.push_back(kLetters[bits << (6 - count) & 63]);
    }
    return result;
}

TEST(Dye, in_base64_is_what_is_the_same_whatever_is_around_it) {
    for (const std::string text :
         {"card", "4929123456781234", "\xff\xfe?>~secret", "12345", "123456"}) {
        const auto dye = parse_dye("x=" + text, parse_dye_forms("base64").value()).value();
        for (std::size_t before = 0; before < 3; ++before) {
            for (const char around : {'\0', 'x', '\xff'}) {
                const std::string encoded =
                    base64_of(std::string(before, around) + text + std::string(2, around));
                const auto patterns = patterns_of(1, dye).value();
                const auto form = static_cast<schema::DyeForm>(
                    static_cast<std::size_t>(schema::DyeForm::kBase640) + before);
                EXPECT_TRUE(std::any_of(patterns.begin(), patterns.end(), [&](const auto& one) {
                    return one.form == form && encoded.find(one.text) != std::string::npos &&
                           one.text.size() + 4 >= (text.size() * 4) / 3;
                })) << encoded;
            }
        }
    }
}

TEST(Dye, comes_as_text_as_digits_or_in_a_file) {
    EXPECT_EQ(parse_dye("x=a=b=c", 1).value().text, "a=b=c");
    EXPECT_EQ(parse_dye("x=hex:00ff0A20", 1).value().text, std::string("\0\xff\n ", 4));
    const auto folder = base::TemporaryFolder::make();
    const std::string path = folder.value().path() + "/dye";
    ASSERT_TRUE(base::write_file_atomically(path, "secret\r\n").ok());
    EXPECT_EQ(parse_dye("x=@" + path, 1).value().text, "secret");
    for (const char* wrong :
         {"secret", "=secret", "x=abc", "x=hex:abc", "x=hex:zz", "x=@/nowhere"}) {
        EXPECT_FALSE(parse_dye(wrong, 1).ok()) << wrong;
    }
    EXPECT_FALSE(parse_dye("x=" + std::string(129, 'x'), parse_dye_forms("hex").value()).ok());
    EXPECT_FALSE(parse_dye_forms("plain,rot13").ok());
}

}  // namespace
}  // namespace dyetrace::capture
