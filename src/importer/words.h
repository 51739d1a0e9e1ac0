// Words of logs: what the files that read them share.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace dyetrace::importer {

// Letters, digits and '_'.
inline bool is_in_name(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Without the blanks at both ends.
inline std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(' ');
    return begin == std::string_view::npos
               ? std::string_view()
               : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

inline bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace dyetrace::importer
