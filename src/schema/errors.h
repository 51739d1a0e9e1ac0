// Names of Linux's error numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dyetrace::schema {

struct ErrorInfo {
    std::int16_t number;
    std::string_view name;
};

// All errors, sorted by number; from 512 on they are those that only a tracer sees (a call that will be restarted).
std::span<const ErrorInfo> errors();

// "ENOENT" for a result of -2; "E4001" for an error without a name; empty for a result that is none (-4095 to -1 are).
std::string error_name(std::int64_t result);

// What is_failure(error, class) of SQL is, as a condition: a call that would only have to wait (errors.toml) did not fail.
std::string_view failure_condition();

}  // namespace dyetrace::schema
