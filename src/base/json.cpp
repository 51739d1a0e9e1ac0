#include "base/json.h"

#include <fmt/format.h>

namespace dyetrace::base {
namespace {

Error wrong(const char* member, const char* what) {
    return Error(ErrorCode::kCorrupt, fmt::format("member '{}' is {}", member, what));
}

Result<const Json*> find(const Json& json, const char* member) {
    if (!json.is_object()) {
        return Error(ErrorCode::kCorrupt, "not a JSON object");
    }
    const auto at = json.find(member);
    if (at == json.end()) {
        return wrong(member, "missing");
    }
    return &*at;
}

}  // namespace

Result<Json> parse_json(std::string_view text) {
    bool too_deep = false;
    const auto callback = [&too_deep](int depth, Json::parse_event_t, Json&) {
        too_deep = too_deep || depth > kJsonDepthMax;
        return !too_deep;
    };
    Json json = Json::parse(text.begin(), text.end(), callback, /*allow_exceptions=*/false);
    if (too_deep) {
        return Error(ErrorCode::kCorrupt, fmt::format("JSON deeper than {} levels", kJsonDepthMax));
    }
    if (json.is_discarded()) {
        return Error(ErrorCode::kCorrupt, "not JSON");
    }
    return json;
}

std::string to_text(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_indented_text(const Json& json) {
    return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

Result<std::string> get_string(const Json& json, const char* member) {
    TRY(const Json* value, find(json, member));
    if (!value->is_string()) {
        return wrong(member, "not a string");
    }
    return value->get<std::string>();
}

Result<std::int64_t> get_integer(const Json& json, const char* member) {
    TRY(const Json* value, find(json, member));
    if (!value->is_number_integer()) {
        return wrong(member, "not an integer");
    }
    if (value->is_number_unsigned() && value->get<std::uint64_t>() > INT64_MAX) {
        return wrong(member, "too large");
    }
    return value->get<std::int64_t>();
}

Result<std::uint64_t> get_unsigned(const Json& json, const char* member, std::uint64_t max) {
    TRY(const Json* value, find(json, member));
    if (!value->is_number_unsigned()) {
        return wrong(member, "not an unsigned integer");
    }
    const auto number = value->get<std::uint64_t>();
    if (number > max) {
        return wrong(member, "too large");
    }
    return number;
}

Result<const Json*> get_array(const Json& json, const char* member) {
    TRY(const Json* value, find(json, member));
    if (!value->is_array()) {
        return wrong(member, "not an array");
    }
    return value;
}

Result<const Json*> get_object(const Json& json, const char* member) {
    TRY(const Json* value, find(json, member));
    if (!value->is_object()) {
        return wrong(member, "not an object");
    }
    return value;
}

}  // namespace dyetrace::base
