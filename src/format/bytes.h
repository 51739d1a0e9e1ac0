// Reading values out of bytes and writing words: what the files about structures share.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace dyetrace::format {

template <typename T>
std::optional<T> read_at(std::string_view bytes, std::size_t at = 0) {
    T value{};
    if (bytes.size() < at || bytes.size() - at < sizeof(T)) {
        return std::nullopt;
    }
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    return value;
}

template <typename... Arguments>
void print(std::string& out, fmt::format_string<Arguments...> pattern, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out), pattern, std::forward<Arguments>(arguments)...);
}

}  // namespace dyetrace::format
