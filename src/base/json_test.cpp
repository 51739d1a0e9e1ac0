#include "base/json.h"

#include <gtest/gtest.h>

namespace dyetrace::base {
namespace {

TEST(Json, reads_members_and_names_the_one_that_is_wrong) {
    const auto json = parse_json(R"({"name":"a","count":3,"list":[],"map":{}})");
    ASSERT_TRUE(json.ok());
    EXPECT_EQ(get_string(json.value(), "name").value(), "a");
    EXPECT_EQ(get_unsigned(json.value(), "count", 3).value(), 3u);
    EXPECT_EQ(get_unsigned(json.value(), "count", 2).error().text(), "member 'count' is too large");
    EXPECT_EQ(get_string(json.value(), "none").error().text(), "member 'none' is missing");
    EXPECT_FALSE(get_string(json.value(), "count").ok());
    EXPECT_TRUE(get_array(json.value(), "list").ok());
    EXPECT_TRUE(get_object(json.value(), "map").ok());
    EXPECT_FALSE(get_object(json.value(), "list").ok());
}

TEST(Json, refuses_what_is_cut_or_too_deep) {
    const std::string text = R"({"a":[1,2,{"b":"c"}]})";
    for (std::size_t length = 0; length < text.size(); ++length) {
        EXPECT_FALSE(parse_json(text.substr(0, length)).ok()) << length;
    }
    EXPECT_FALSE(parse_json(std::string(1000, '[') + std::string(1000, ']')).ok());
    EXPECT_TRUE(parse_json(std::string(60, '[') + std::string(60, ']')).ok());
}

TEST(Json, writes_bytes_that_are_not_text) {
    EXPECT_EQ(to_text(Json{{"a", "\xff"}}), "{\"a\":\"\xef\xbf\xbd\"}");
}

}  // namespace
}  // namespace dyetrace::base
