#include "reports/question_arguments.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <string_view>

#include "schema/generated/enum_names.h"

namespace dyetrace::reports {
namespace {

// Where `:FROM-TO` or `:FROM-` at the end of a path begins; its size: nowhere, as the colon belongs to a name.
std::size_t range_begin(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789";
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        return text.size();
    }
    const std::size_t dash = text.find_first_not_of(kDigits, colon + 1);
    const bool is_range = dash != std::string_view::npos && dash > colon + 1 && text[dash] == '-' &&
                          text.find_first_not_of(kDigits, dash + 1) == std::string_view::npos;
    return is_range ? colon : text.size();
}

}  // namespace

using base::Error;
using base::ErrorCode;

Result<std::uint64_t> fingerprint_in(const std::string& text) {
    std::int64_t below_zero = 0;
    const char* const end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data(), end, below_zero);
    return text.starts_with('-') && error == std::errc() && last == end
               ? static_cast<std::uint64_t>(below_zero)
               : number_in(text, "fingerprint");
}

Result<std::uint64_t> number_in(const std::string& text, const char* what) {
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
    FileRange range;
    const std::size_t colon = range_begin(text);
    if (colon < text.size()) {
        const std::size_t dash = text.find('-', colon);
        TRY(range.begin, number_in(text.substr(colon + 1, dash - colon - 1), "byte"));
        if (dash + 1 < text.size()) {
            TRY(range.end, number_in(text.substr(dash + 1), "byte"));
        }
        if (range.end <= range.begin) {
            return Error(ErrorCode::kInvalidArgument,
                         fmt::format("'{}' has no bytes: it is FROM-TO, TO not included", text));
        }
    }
    range.path = std::filesystem::absolute(text.substr(0, colon)).lexically_normal().string();
    return range;
}

}  // namespace dyetrace::reports
