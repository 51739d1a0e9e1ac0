// SQL's order_distance(before, after): how far apart two orders of the same items are.
//
//   order_distance([1, 2, 3], [3, 2, 1])     1: reversed
//   order_distance([1, 2, 3, 4], [1, 2])     0: what both have is in the same order
//
// The share of pairs that is the other way round (analysis/pattern/permutation.h). Of a item that is there several times the
// first is compared with the first, the second with the second. NULL: fewer than two items are in both.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dyetrace::query {

// Lists of numbers as SQL writes them: [3, 1, 2]. Nothing if one is no such list.
std::optional<double> order_distance(std::string_view before, std::string_view after);

}  // namespace dyetrace::query
