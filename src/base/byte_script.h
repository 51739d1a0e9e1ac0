// Reads a fuzzer's bytes as a script: numbers, and pieces with a length before them. What is missing at the end is zero or empty.
//
//   ByteScript script(data, size);
//   while (!script.at_end()) { switch (script.number() % 3) { case 0: take(script.piece()); … } }
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dyetrace::base {

class ByteScript {
  public:
    ByteScript(const std::uint8_t* data, std::size_t size)
        : rest_(reinterpret_cast<const char*>(data), size) {}

    bool at_end() const { return rest_.empty(); }

    std::uint8_t number() {
        if (rest_.empty()) {
            return 0;
        }
        const auto value = static_cast<std::uint8_t>(rest_.front());
        rest_.remove_prefix(1);
        return value;
    }

    // Up to 65,535 bytes, after their number (little-endian).
    std::string_view piece() {
        const std::size_t low = number();
        const std::size_t high = number();
        const std::size_t size = std::min(low + (high << 8), rest_.size());
        const std::string_view bytes = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return bytes;
    }

  private:
    std::string_view rest_;
};

}  // namespace dyetrace::base
