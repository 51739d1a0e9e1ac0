#include "reports/question_arguments.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <regex>

#include "schema/generated/enum_names.h"

namespace dyetrace::reports {

using base::Error;
using base::ErrorCode;

Result<std::uint64_t> number_in(const std::string& text, const char* what) {
    if (std::int64_t below_zero = 0; text.starts_with('-')) {  // as SQL shows 64 bits
        const char* const end = text.data() + text.size();
        const auto [last, error] = std::from_chars(text.data(), end, below_zero);
        if (error == std::errc() && last == end) {
            return static_cast<std::uint64_t>(below_zero);
        }
    }
    const bool is_hex = text.starts_with("0x");
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [last, error] =
        std::from_chars(text.data() + (is_hex ? 2 : 0), end, number, is_hex ? 16 : 10);
    if (error != std::errc() || last != end) {
        return Error(
            ErrorCode::kInvalidArgument,
            fmt::format("'{}' is no {}: it is a number, or 0x and hexadecimal digits", text, what));
    }
    return number;
}

Result<schema::Certainty> certainty_in(const std::string& text) {
    for (std::uint8_t value = 0; value < schema::certainty_names().size(); ++value) {
        if (schema::certainty_name(value) == text) {
            return static_cast<schema::Certainty>(value);
        }
    }
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("'{}' is no certainty: certain, likely, possible", text));
}

Result<FileRange> file_range_in(const std::string& text) {
    static const std::regex kRange(":([0-9]+)-([0-9]*)$");
    std::smatch match;
    FileRange range;
    std::string path = text;
    if (std::regex_search(text, match, kRange)) {
        path = match.prefix();
        TRY(range.begin, number_in(match[1], "byte"));
        if (match[2].length() > 0) {
            TRY(range.end, number_in(match[2], "byte"));
        }
        if (range.end <= range.begin) {
            return Error(ErrorCode::kInvalidArgument,
                         fmt::format("'{}' has no bytes: it is FROM-TO, TO not included", text));
        }
    }
    range.path = std::filesystem::absolute(path).lexically_normal().string();
    return range;
}

}  // namespace dyetrace::reports
