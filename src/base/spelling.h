// Which word somebody meant who mistyped it.
//
//   nearest_word("recrod", {"record", "report"})    ─►    "record"
#pragma once

#include <string_view>
#include <vector>

namespace dyetrace::base {

// The known word that `word` is the begin of, or that it becomes when the fewest letters are added, left out, changed or swapped with their
// neighbour: a third of them, or two, but no more than half. Empty if none is that near.
std::string_view nearest_word(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace dyetrace::base
