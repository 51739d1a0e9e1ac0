#include "content/content_key.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

#include "base/file.h"

namespace dyetrace::content {
namespace {

constexpr std::size_t kKeyBytes = sizeof(ContentKey);
constexpr std::string_view kHex = "hex:";

std::string without_line_end(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) {
        text.pop_back();
    }
    return text;
}

// Empty: it is not 32 digits.
std::string bytes_of_digits(std::string_view digits) {
    std::string bytes;
    if (digits.size() != 2 * kKeyBytes) {
        return bytes;
    }
    for (std::size_t i = 0; i < digits.size(); i += 2) {
        unsigned value = 0;
        const char* const end = digits.data() + i + 2;
        if (std::from_chars(digits.data() + i, end, value, 16).ptr != end) {
            return {};
        }
        bytes.push_back(static_cast<char>(value));
    }
    return bytes;
}

}  // namespace

Result<ContentKey> content_key(const std::string& text) {
    std::string bytes;
    if (text.starts_with(kHex)) {
        bytes = bytes_of_digits(std::string_view(text).substr(kHex.size()));
    } else if (text.starts_with('@')) {
        TRY(const std::string content, base::read_file(text.substr(1), 4 * kKeyBytes));
        bytes = content.size() == kKeyBytes ? content : bytes_of_digits(without_line_end(content));
    }
    if (bytes.size() != kKeyBytes) {
        return Error(ErrorCode::kInvalidArgument,
                     "a key of fingerprints is hex: and 32 digits, or @ and a file with 16 bytes "
                     "or 32 digits");
    }
    ContentKey key{};
    std::memcpy(key.half, bytes.data(), kKeyBytes);
    return key;
}

Result<ContentKey> random_content_key() {
    ContentKey key{};
    if (::getrandom(&key, sizeof(key), 0) != sizeof(key)) {
        return Error::from_errno(errno, "getrandom");
    }
    return key;
}

}  // namespace dyetrace::content
