#include "base/spelling.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace dyetrace::base {
namespace {

constexpr std::size_t kBeginLettersMin = 3;

// Optimal string alignment: Damerau-Levenshtein in which no piece is changed twice. Rows of the table: this one and two before it.
std::size_t edits_between(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1), above(row), above_that(row);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::swap(above_that, above);
        std::swap(above, row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool is_same = a[i - 1] == b[j - 1];
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (is_same ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], above_that[j - 2] + 1);
            }
        }
    }
    return row.back();
}

}  // namespace

std::string_view nearest_word(std::string_view word, const std::vector<std::string_view>& known) {
    std::string_view nearest;
    std::size_t fewest = std::min(std::max<std::size_t>(2, word.size() / 3), word.size() / 2) + 1;
    for (const std::string_view each : known) {
        const bool begins = word.size() >= kBeginLettersMin && each.starts_with(word);
        const std::size_t edits = begins ? 1 : edits_between(word, each);
        if (edits < fewest) {
            fewest = edits;
            nearest = each;
        }
    }
    return nearest;
}

}  // namespace dyetrace::base
