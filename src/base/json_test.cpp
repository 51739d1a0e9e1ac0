#include "base/json.h"

#include <gtest/gtest.h>

#include <limits>

namespace dyetrace::base {
namespace {

std::string round_trip(std::string_view text) {
    return Json::parse(text).value().text();
}

TEST(Json, keeps_the_order_of_members) {
    Json json = Json::object();
    json.set("zebra", 1).set("ant", Json::array().append("db1").append(nullptr == nullptr));
    EXPECT_EQ(json.text(), R"({"zebra":1,"ant":["db1",true]})");
    json.set("zebra", -2);
    EXPECT_EQ(json.text(), R"({"zebra":-2,"ant":["db1",true]})");
}

TEST(Json, reads_back_what_it_writes) {
    for (const char* text : {"null",
                             "true",
                             "-9223372036854775808",
                             "18446744073709551615",
                             "0.1",
                             R"("a\"b\\c\n\u0001 µ")",
                             "[]",
                             "{}",
                             R"({"a":[{"b":[1,2,[]]},{}]})"}) {
        EXPECT_EQ(round_trip(text), text);
    }
}

TEST(Json, indents_for_people) {
    const Json json = Json::parse(R"({"a":[1,2],"b":{},"c":[]})").value();
    EXPECT_EQ(json.pretty_text(),
              "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {},\n  \"c\": []\n}\n");
}

TEST(Json, gets_members_by_type) {
    const Json json =
        Json::parse(R"({"n":7,"minus":-7,"x":1.5,"s":"text","b":false,"list":[1,2]})").value();
    EXPECT_EQ(json.get<uint64_t>("n").value(), 7u);
    EXPECT_EQ(json.get<int64_t>("n").value(), 7);
    EXPECT_EQ(json.get<int64_t>("minus").value(), -7);
    EXPECT_EQ(json.get<double>("n").value(), 7.0);
    EXPECT_EQ(json.get<double>("x").value(), 1.5);
    EXPECT_EQ(json.get<std::string>("s").value(), "text");
    EXPECT_FALSE(json.get<bool>("b").value());
    EXPECT_EQ(json.items_at("list").size(), 2u);
    EXPECT_EQ(json.items_at("absent").size(), 0u);
}

TEST(Json, says_which_member_is_wrong) {
    const Json json = Json::parse(R"({"minus":-7,"most":18446744073709551615})").value();
    EXPECT_EQ(json.get<bool>("absent").error().text(), "'absent' is missing");
    EXPECT_EQ(json.get<uint64_t>("minus").error().text(), "'minus' is not a whole number from 0");
    EXPECT_EQ(json.get<int64_t>("most").error().text(), "'most' is not a whole number");
    EXPECT_EQ(Json(5).get<bool>("x").error().text(), "'x' is missing") << "not even an object";
}

TEST(Json, reads_several_members_up_to_the_first_that_is_wrong) {
    const Json json = Json::object().set("n", 7).set("s", "text").set("b", true);
    uint64_t number = 0;
    std::string text;
    bool flag = false;
    EXPECT_TRUE(json.read("n", number, "s", text, "b", flag).ok());
    EXPECT_EQ(number, 7u);
    EXPECT_EQ(text, "text");
    EXPECT_TRUE(flag);
    number = 0;
    flag = false;
    EXPECT_EQ(json.read("n", number, "absent", text, "b", flag).error().text(),
              "'absent' is missing");
    EXPECT_EQ(number, 7u);
    EXPECT_FALSE(flag);
}

TEST(Json, reports_where_the_text_is_wrong) {
    const Error error = Json::parse(R"({"a":1,})").error();
    EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
    EXPECT_TRUE(error.text().starts_with("JSON, byte 8: syntax error")) << error.text();
    EXPECT_EQ(Json::parse("[1e999]").error().text(),
              "JSON, byte 6: number overflow parsing '1e999'");
    for (const char* text : {"", "{", "[1", "1 2", "\"\xff\"", "nul", "[1e999]"}) {
        EXPECT_FALSE(Json::parse(text).ok()) << text;
    }
}

TEST(Json, refuses_to_be_nested_too_deeply) {
    const auto nested = [](size_t depth) {
        return std::string(depth, '[') + std::string(depth, ']');
    };
    EXPECT_EQ(round_trip(nested(kJsonDepthMax)), nested(kJsonDepthMax));
    EXPECT_EQ(Json::parse(nested(kJsonDepthMax + 1)).error().text(),
              "JSON is nested deeper than 100 levels");
}

TEST(Json, writes_what_json_cannot_say_as_null_or_an_escape) {
    EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).text(), "null");
    EXPECT_EQ(Json("a\xff").text(), R"("a\\xff")");
}

TEST(Json, says_whether_it_is_json_without_making_a_value) {
    for (const char* text : {"null", "[1,2]", R"({"a":"\u0001"})", " 1 "}) {
        EXPECT_TRUE(Json::is_valid(text)) << text;
    }
    for (const char* text : {"", "{", "{\"a\":1,}", "1 2", "\"\xff\"", "nul"}) {
        EXPECT_FALSE(Json::is_valid(text)) << text;
    }
}

TEST(Json, compares_by_value) {
    EXPECT_EQ(Json::parse("[1,{\"a\":2}]").value(),
              Json::array().append(1).append(Json::object().set("a", 2u)));
    EXPECT_FALSE(Json(1) == Json("1"));
}

}  // namespace
}  // namespace dyetrace::base
