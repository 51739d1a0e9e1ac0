// Words of people in SQL text.
#pragma once

#include <string>
#include <string_view>

namespace dyetrace::base {

// 'it''s'
inline std::string quoted_sql(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        out.append(c == '\'' ? "''" : std::string_view(&c, 1));
    }
    return out + "'";
}

}  // namespace dyetrace::base
