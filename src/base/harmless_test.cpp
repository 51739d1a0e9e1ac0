#include "base/harmless.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/json_string.h"

namespace dyetrace::base {
namespace {

struct Class {
    const char* name;
    std::string_view text, shown, json;  // json: without its quotes
};

// Every class of code points, and of bytes that are none.
constexpr Class kClasses[] = {
    {"ASCII", "a ~", "a ~", "a ~"},
    {"quotes and backslash", "\"\\", "\"\\", R"(\"\\)"},
    {"NUL", {"\0", 1}, R"(\x00)", R"(\u0000)"},
    {"C0",
     "\x01\x07\x08\x0b\x0c\x1b\x1f",
     R"(\x01\x07\x08\x0b\x0c\x1b\x1f)",
     R"(\u0001\u0007\b\u000B\f\u001B\u001F)"},
    {"CR, LF, TAB", "\r\n\t", R"(\r\n\t)", R"(\r\n\t)"},
    {"DEL", "\x7f", R"(\x7f)", R"(\u007F)"},
    {"C1",
     "\u0080\u0085\u009b\u009f",
     R"(\u0080\u0085\u009b\u009f)",
     R"(\u0080\u0085\u009B\u009F)"},
    {"Latin, no-break space", "\u00a0\u00e4", "\u00a0\u00e4", "\u00a0\u00e4"},
    {"soft hyphen", "\u00ad", R"(\u00ad)", R"(\u00AD)"},
    {"direction: embeddings, overrides", "\u202a\u202e", R"(\u202a\u202e)", R"(\u202A\u202E)"},
    {"direction: isolates", "\u2066\u2069", R"(\u2066\u2069)", R"(\u2066\u2069)"},
    {"direction: marks", "\u200e\u200f\u061c", R"(\u200e\u200f\u061c)", R"(\u200E\u200F\u061C)"},
    {"line and paragraph separators", "\u2028\u2029", R"(\u2028\u2029)", R"(\u2028\u2029)"},
    {"zero width",
     "\u200b\u200c\u200d\u2060",
     R"(\u200b\u200c\u200d\u2060)",
     R"(\u200B\u200C\u200D\u2060)"},
    {"fillers", "\u115f\u3164\uffa0", R"(\u115f\u3164\uffa0)", R"(\u115F\u3164\uFFA0)"},
    {"byte order mark", "\ufeff", R"(\ufeff)", R"(\uFEFF)"},
    {"tags", "\U000e0001\U000e007f", R"(\u{e0001}\u{e007f})", R"(\uDB40\uDC01\uDB40\uDC7F)"},
    {"noncharacters",
     "\ufdd0\ufffe\U0001ffff\U0010fffe",
     R"(\ufdd0\ufffe\u{1ffff}\u{10fffe})",
     R"(\uFDD0\uFFFE\uD83F\uDFFF\uDBFF\uDFFE)"},
    {"private use", "\ue0a0\U000f0000", "\ue0a0\U000f0000", "\ue0a0\U000f0000"},
    {"combining marks, variation selectors", "e\u0301\ufe0f", "e\u0301\ufe0f", "e\u0301\ufe0f"},
    {"wide characters",
     "\u4e2d\uff21\U0001f600",
     "\u4e2d\uff21\U0001f600",
     "\u4e2d\uff21\U0001f600"},
    {"right to left letters", "\u05d0\u0627", "\u05d0\u0627", "\u05d0\u0627"},
    {"replacement character", "\ufffd", "\ufffd", "\ufffd"},
    {"surrogates",
     "\xed\xa0\x80\xed\xbf\xbf",
     R"(\xed\xa0\x80\xed\xbf\xbf)",
     R"(\\xed\\xa0\\x80\\xed\\xbf\\xbf)"},
    {"overlong forms",
     "\xc0\x80\xe0\x80\xaf\xf0\x80\x80\xaf",
     R"(\xc0\x80\xe0\x80\xaf\xf0\x80\x80\xaf)",
     R"(\\xc0\\x80\\xe0\\x80\\xaf\\xf0\\x80\\x80\\xaf)"},
    {"lone continuation bytes", "\x80\xbf", R"(\x80\xbf)", R"(\\x80\\xbf)"},
    {"cut characters", "\xe2\x82", R"(\xe2\x82)", R"(\\xe2\\x82)"},
    {"above U+10FFFF",
     "\xf4\x90\x80\x80\xf8\xff",
     R"(\xf4\x90\x80\x80\xf8\xff)",
     R"(\\xf4\\x90\\x80\\x80\\xf8\\xff)"},
};

TEST(Harmless, shows_every_class_of_code_points) {
    for (const Class& each : kClasses) {
        EXPECT_EQ(make_harmless(each.text), each.shown) << each.name;
        EXPECT_EQ(make_harmless("<" + std::string(each.text) + ">"),
                  "<" + std::string(each.shown) + ">")
            << each.name;
    }
}

TEST(Harmless, does_no_harm_twice) {
    for (const Class& each : kClasses) {
        EXPECT_EQ(make_harmless(each.shown), each.shown) << each.name;
    }
}

TEST(JsonString, writes_every_class_of_code_points) {
    for (const Class& each : kClasses) {
        std::string out;
        append_json_string(out, each.text);
        EXPECT_EQ(out, "\"" + std::string(each.json) + "\"") << each.name;
    }
}

TEST(JsonString, is_read_back_as_the_same_text_wherever_that_is_utf8) {
    for (const Class& each : kClasses) {
        for (const JsonEscapes escapes : {JsonEscapes::kHarmful, JsonEscapes::kRequired}) {
            std::string out;
            append_json_string(out, each.text, escapes);
            const auto read = Json::parse(out);
            ASSERT_TRUE(read.ok()) << each.name << ": " << out;
            const bool is_utf8 = !each.json.starts_with(R"(\\x)");
            EXPECT_EQ(read.value().as<std::string>(), is_utf8 ? each.text : each.shown)
                << each.name;
        }
    }
}

// The other half of a pair that must be equal: DuckDB's to_json, asked in store/arguments_function_test.cpp.
TEST(JsonString, escapes_only_what_json_requires_when_asked) {
    std::string out;
    append_json_string(out, "\"\\\n\x1b\x7f\u009b\u202e\ufeff", JsonEscapes::kRequired);
    EXPECT_EQ(out, "\"\\\"\\\\\\n\\u001B\x7f\u009b\u202e\ufeff\"");
}

TEST(Harmless, lines_stay_lines) {
    EXPECT_EQ(make_lines_harmless("a\tb\x1b[2J\r\n\n\u202ec"), "a\tb\\x1b[2J\\r\n\n\\u202ec");
    EXPECT_EQ(make_lines_harmless(""), "");
}

TEST(JsonString, makes_json_of_others_harmless_and_keeps_its_value) {
    const std::string json = "{\n\t\"a\u202e\": [\"\x7f\U000e0041\", \"\\u001b\\\\\"]\r\n}";
    std::string out;
    append_harmless_json(out, json);
    EXPECT_EQ(out, R"({  "a\u202E": ["\u007F\uDB40\uDC41", "\u001b\\"]  })");
    EXPECT_EQ(Json::parse(out).value(), Json::parse(json).value());
}

}  // namespace
}  // namespace dyetrace::base
