// JSON as a value. The library that parses it stays in json.cpp.
//
//   Json json = Json::object();
//   json.set("format_version", 1).set("hosts", Json::array().append("db1").append("db2"));
//   json.text()                            {"format_version":1,"hosts":["db1","db2"]}
//
//   TRY(const Json options, Json::parse(text));
//   TRY(uint64_t version, options.get<uint64_t>("format_version"));     'format_version' is missing
//   for (const Json& host : options.items_at("hosts")) ...
//
// Members keep their order; of two with one name the first counts. Whole numbers are exact from
// INT64_MIN to UINT64_MAX (JavaScript's are not above 2^53: ids travel as strings). NaN and
// infinities become null. Strings are written by base/json_string.h: harmless wherever they are shown; a byte that is not
// UTF-8 becomes the text \xff (schema has the reversible escape).
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace dyetrace::base {

inline constexpr size_t kJsonDepthMax =
    100;  // arrays and objects inside each other; protects the stack

class Json {
  public:
    struct Member;

    static Json array();
    static Json object();

    // The error says where: "JSON, byte 17: ...". kCorrupt.
    static Result<Json> parse(std::string_view text);

    // Whether it is JSON at all, however deep; makes no value of it.
    static bool is_valid(std::string_view text);

    Json() = default;  // null
    Json(bool value);
    Json(double value);
    Json(std::string value);
    Json(std::string_view value);
    Json(const char* value);
    Json(int64_t value);
    Json(uint64_t value);
    template <std::integral Number>
    Json(Number value)
        : Json(
              static_cast<std::conditional_t<std::is_signed_v<Number>, int64_t, uint64_t>>(value)) {
    }

    // Only for objects: replaces the member or adds it at the end. For arrays: adds at the end.
    // Both return *this.
    Json& set(std::string_view name, Json value);
    Json& append(Json value);

    bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
    bool is_array() const { return std::holds_alternative<std::vector<Json>>(value_); }
    bool is_object() const { return std::holds_alternative<std::vector<Member>>(value_); }

    // Empty for everything that is not an array or object.
    const std::vector<Json>& items() const;
    const std::vector<Member>& members() const;

    // The member, or null: not an object, or not in it.
    const Json* find(std::string_view name) const;
    const std::vector<Json>& items_at(std::string_view name) const;

    // T: bool, int64_t, uint64_t, double, std::string. Nothing if another type, or too large for T.
    template <class T>
    std::optional<T> as() const;

    // A required member as T; the error names it. kCorrupt.
    template <class T>
    Result<T> get(std::string_view name) const;

    // Several required members, each with the place it goes to; stops at the first that is wrong.
    //
    //   TRY(json.read("rows", file.rows, "record", file.record));
    template <class T, class... Others>
    Result<void> read(std::string_view name, T& place, Others&&... others) const {
        TRY(place, get<T>(name));
        if constexpr (sizeof...(others) > 0) {
            return read(std::forward<Others>(others)...);
        }
        return {};
    }

    std::string text() const;         // one line
    std::string pretty_text() const;  // indented by two, ends with a line break

    friend bool operator==(const Json& left, const Json& right);

  private:
    using Value = std::variant<std::monostate,
                               bool,
                               int64_t,  // below zero only
                               uint64_t,
                               double,
                               std::string,
                               std::vector<Json>,
                               std::vector<Member>>;
    class Builder;
    class Writer;

    explicit Json(Value value);

    Value value_;
};

struct Json::Member {
    std::string name;
    Json value;
    friend bool operator==(const Member&, const Member&) = default;
};

}  // namespace dyetrace::base
