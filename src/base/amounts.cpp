#include "base/amounts.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <utility>

namespace dyetrace::base {

Result<std::chrono::nanoseconds> parse_duration(const std::string& text) {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
    static constexpr std::pair<std::string_view, double> kUnits[] = {{"", 1e9},
                                                                     {"ns", 1},
                                                                     {"us", 1e3},
                                                                     {"ms", 1e6},
                                                                     {"s", 1e9},
                                                                     {"m", 60e9},
                                                                     {"min", 60e9},
                                                                     {"h", 3600e9}};
    constexpr double kYearNs = 366.0 * 24 * 3600e9;
    for (const auto& [name, ns] : kUnits) {
        if (error == std::errc() && unit == name && number >= 0 && number * ns <= kYearNs) {
            return std::chrono::nanoseconds(static_cast<std::int64_t>(number * ns));
        }
    }
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("'{}' is no duration: write 500ms, 90s, 5m or 2h", text));
}

Result<std::uint64_t> parse_bytes(const std::string& text) {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
    static constexpr std::pair<std::string_view, int> kUnits[] = {
        {"", 0}, {"K", 10}, {"M", 20}, {"G", 30}};
    for (const auto& [name, shift] : kUnits) {
        if (error == std::errc() && unit == name && number < (std::uint64_t{1} << 30)) {
            return number << shift;
        }
    }
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("'{}' is no size: write 512K, 16M or 1G", text));
}

}  // namespace dyetrace::base
