#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/utf8.h"

namespace dyetrace::base {
namespace {

// One decimal below 10 unless it is 0, none above: 1.9, 2, 22, 310. The unit grows when rounding
// reaches 1,000.
template <size_t size>
std::string scaled(uint64_t amount, const std::string_view (&units)[size]) {
    if (amount < 1000) return fmt::format("{} {}", amount, units[0]);
    double value = static_cast<double>(amount);
    size_t unit = 0;
    while (value >= 999.5 && unit + 1 < size) {
        value /= 1000;
        ++unit;
    }
    std::string digits = fmt::format("{:.{}f}", value, value < 9.95 ? 1 : 0);
    if (digits.ends_with(".0")) digits.resize(digits.size() - 2);
    return fmt::format("{} {}", digits, units[unit]);
}

struct Range {
    char32_t first, last;
};

// The blocks that occur in file names and logs, after Unicode 15's East Asian Width and general
// categories Mn, Me, Cf.
constexpr Range kZeroWidth[] = {{0x0300, 0x036f},
                                {0x0483, 0x0489},
                                {0x0591, 0x05bd},
                                {0x0610, 0x061a},
                                {0x064b, 0x065f},
                                {0x200b, 0x200f},
                                {0x202a, 0x202e},
                                {0x2060, 0x2064},
                                {0x20d0, 0x20f0},
                                {0xfe00, 0xfe0f},
                                {0xfe20, 0xfe2f},
                                {0xfeff, 0xfeff},
                                {0xe0100, 0xe01ef}};
constexpr Range kDoubleWidth[] = {{0x1100, 0x115f},
                                  {0x2e80, 0x303e},
                                  {0x3041, 0x33ff},
                                  {0x3400, 0x4dbf},
                                  {0x4e00, 0x9fff},
                                  {0xa000, 0xa4cf},
                                  {0xa960, 0xa97c},
                                  {0xac00, 0xd7a3},
                                  {0xf900, 0xfaff},
                                  {0xfe30, 0xfe6f},
                                  {0xff00, 0xff60},
                                  {0xffe0, 0xffe6},
                                  {0x1f300, 0x1f64f},
                                  {0x1f680, 0x1f6ff},
                                  {0x1f900, 0x1f9ff},
                                  {0x20000, 0x3fffd}};

template <size_t size>
bool in_any(char32_t value, const Range (&ranges)[size]) {
    return std::any_of(std::begin(ranges), std::end(ranges), [&](const Range& range) {
        return range.first <= value && value <= range.last;
    });
}

size_t width_of(char32_t value) {
    if (value < 0x0300 || value == kNotUtf8) return 1;
    if (in_any(value, kZeroWidth)) return 0;
    return in_any(value, kDoubleWidth) ? 2 : 1;
}

// The bytes of the longest beginning of `text` that is not wider than `width`.
size_t bytes_within(std::string_view text, size_t width) {
    size_t bytes = 0;
    while (bytes < text.size()) {
        const CodePoint next = first_code_point(text.substr(bytes));
        if (width_of(next.value) > width) break;
        width -= width_of(next.value);
        bytes += next.bytes;
    }
    return bytes;
}

}  // namespace

std::string with_separators(uint64_t number) {
    std::string digits = std::to_string(number);
    for (size_t end = digits.size(); end > 3; end -= 3) digits.insert(end - 3, ",");
    return digits;
}

std::string counted(uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", with_separators(count), noun, count == 1 ? "" : "s");
}

std::string counted(uint64_t count, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", with_separators(count), count == 1 ? one : many);
}

std::string bytes_text(uint64_t bytes) {
    static constexpr std::string_view kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    return scaled(bytes, kUnits);
}

std::string duration_text(uint64_t duration_ns) {
    static constexpr std::string_view kUnits[] = {"ns", "µs", "ms", "s"};
    constexpr uint64_t kSecond = 1'000'000'000, kMinute = 60 * kSecond, kHour = 60 * kMinute;
    if (duration_ns < kMinute - kSecond / 2) return scaled(duration_ns, kUnits);
    const uint64_t seconds = duration_ns / kSecond + (duration_ns % kSecond >= kSecond / 2);
    if (seconds < kHour / kSecond) return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
    return fmt::format("{}h{:02}m", seconds / 3600, seconds / 60 % 60);
}

std::string hex_text(std::span<const std::byte> bytes) {
    std::string text;
    for (const std::byte byte : bytes) {
        fmt::format_to(std::back_inserter(text), "{:02x}", std::to_integer<unsigned>(byte));
    }
    return text;
}

std::string lower(std::string_view text) {
    std::string lowered(text);
    std::ranges::transform(lowered, lowered.begin(), [](unsigned char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : static_cast<char>(c);
    });
    return lowered;
}

std::string percent_text(double fraction) {
    const double percent = fraction * 100;
    return fmt::format("{:.{}f} %", percent, percent < 9.95 && percent > 0 ? 1 : 0);
}

std::string beginning(const std::string& text, size_t bytes) {
    const auto is_inside = [&](size_t at) {
        return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0u) == 0x80u;
    };
    while (bytes > 0 && is_inside(bytes)) {
        --bytes;
    }
    return text.substr(0, bytes);
}

size_t display_width(std::string_view text) {
    size_t width = 0;
    while (!text.empty()) {
        const CodePoint next = first_code_point(text);
        width += width_of(next.value);
        text.remove_prefix(next.bytes);
    }
    return width;
}

std::string truncated(std::string_view text, size_t width) {
    if (bytes_within(text, width) == text.size()) return std::string(text);
    if (width == 0) return {};
    return std::string(text.substr(0, bytes_within(text, width - 1))) + "…";
}

std::string truncated_in_front(const std::string& text, size_t width) {
    if (display_width(text) <= width) {
        return text;
    }
    size_t at = text.size() - std::min(text.size(), width - 1);
    while (at < text.size() && (text[at] & 0xc0) == 0x80) {
        ++at;  // not inside a character
    }
    return "…" + text.substr(at);
}

std::string left_aligned(std::string_view text, size_t width) {
    std::string cell = truncated(text, width);
    cell.append(width - display_width(cell), ' ');
    return cell;
}

std::string right_aligned(std::string_view text, size_t width) {
    std::string cell = truncated(text, width);
    cell.insert(0, width - display_width(cell), ' ');
    return cell;
}

std::string wrapped(std::string_view text, size_t width, std::string_view indent) {
    std::string lines;
    size_t column = 0;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        const size_t word_width = display_width(word);
        if (column > 0 && column + 1 + word_width > width) {
            lines.append("\n").append(indent);
            column = display_width(indent);
        } else if (!lines.empty()) {
            lines += ' ';
            ++column;
        }
        lines += word;
        column += word_width;
        text.remove_prefix(std::min(word.size() + 1, text.size()));
    }
    return lines;
}

}  // namespace dyetrace::base
