// Numbers and columns for people.
//
//   with_separators(214883)        214,883
//   counted(214883, "event")       214,883 events; "1 event"
//   bytes_text(3'100'000)          3.1 MB      decimal units; one digit after the point below 10
//   duration_text(14'200)          14 µs       from ns; from a minute on: 2m41s, 3h05m
//   percent_text(0.583)            58 %
//   hex_text(bytes)                0d0a        two digits a byte
//   lower("Content-Type")          content-type
//   left_aligned("/var/log", 5)    /var…       cut or filled to a width
//
// A width is what a terminal shows: an emoji or Chinese character takes 2 columns, an accent none.
// Bytes that are not UTF-8 count as one column each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dyetrace::base {

std::string with_separators(uint64_t number);
std::string counted(uint64_t count, std::string_view noun);  // its plural ends in s
std::string counted(uint64_t count, std::string_view one, std::string_view many);
std::string bytes_text(uint64_t bytes);
std::string duration_text(uint64_t duration_ns);
std::string percent_text(double fraction);
std::string hex_text(std::span<const std::byte> bytes);
std::string lower(std::string_view text);  // its ASCII letters

// The first bytes, not more, and no half character at their end.
std::string beginning(const std::string& text, size_t bytes);

size_t display_width(std::string_view text);
std::string truncated(std::string_view text, size_t width);  // ends in … if cut
std::string truncated_in_front(const std::string& text,
                               size_t width);  // begins with … if cut: a path's end tells more
std::string left_aligned(std::string_view text, size_t width);   // truncated, or filled at its end
std::string right_aligned(std::string_view text, size_t width);  // truncated, or filled in front
// Broken at blanks into lines of at most `width`, each but the first begun by `indent`; a longer word stays whole.
std::string wrapped(std::string_view text, size_t width, std::string_view indent);

}  // namespace dyetrace::base
