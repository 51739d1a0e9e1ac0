#include "base/byte_range.h"

#include <fmt/format.h>

#include <charconv>

namespace dyetrace::base {

Result<ByteRange> byte_range(const std::string& text) {
    ByteRange range;
    if (text.empty()) {
        return range;
    }
    const char* const end = text.data() + text.size();
    const auto [middle, wrong] = std::from_chars(text.data(), end, range.from);
    const bool open = wrong == std::errc() && middle + 1 == end && *middle == '-';
    if (!open) {
        const bool has_end = wrong == std::errc() && middle < end && *middle == '-';
        const auto last = std::from_chars(has_end ? middle + 1 : end, end, range.to);
        if (last.ec != std::errc() || last.ptr != end || range.to < range.from) {
            return Error(
                ErrorCode::kInvalidArgument,
                fmt::format("'{}' is no range: it is FROM-TO in bytes, TO not included, or FROM-",
                            text));
        }
    }
    return range;
}

}  // namespace dyetrace::base
