// JSON from outside, without exceptions.
//
//   TRY(Json json, parse_json(text));
//   TRY(std::string name, get_string(json, "name"));      an Error names the member
//
// Limits: numbers are 64-bit integers or doubles; `parse_json` refuses more than kJsonDepthMax levels.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace dyetrace::base {

using Json = nlohmann::ordered_json;

// Deeper than anything we write; a parser that recurses must not be led further by a file.
inline constexpr int kJsonDepthMax = 64;

Result<Json> parse_json(std::string_view text);

// A line without line breaks; bytes that are not UTF-8 become U+FFFD.
std::string to_text(const Json& json);
// The same for people: two spaces per level.
std::string to_indented_text(const Json& json);

// Members of an object; kCorrupt if `json` is none, or the member is missing or of another type or range.
Result<std::string> get_string(const Json& json, const char* member);
Result<std::int64_t> get_integer(const Json& json, const char* member);
Result<std::uint64_t> get_unsigned(const Json& json, const char* member, std::uint64_t max);
Result<const Json*> get_array(const Json& json, const char* member);
Result<const Json*> get_object(const Json& json, const char* member);

}  // namespace dyetrace::base
