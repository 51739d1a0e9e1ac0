// Events and objects of a trace with their anchors and sketches, for the analysis of similarity.
#pragma once

#include <cstdint>

#include "analysis/similarity/items.h"
#include "base/result.h"
#include "schema/generated/records.h"
#include "store/database.h"

namespace dyetrace::query {

// What one question holds in memory: 48 bytes a item and 48 an anchor or window while they are sorted, 4 GB at most.
inline constexpr std::size_t kItemsMax = 10'000'000;
inline constexpr std::size_t kItemAnchorsMax = 50'000'000;  // of 50 GB at the usual distance
// So many windows of sketches are held; where there are more, all sketches are thinned to twice,
// four or eight times their distance.
inline constexpr std::size_t kItemWindowsMax = 20'000'000;  // some 300,000 different operations

// Adds all that moved bytes which were looked at; `trace` is put into each. Over a limit: an Error that says what to do.
Result<void> read_items(store::Database& database,
                        schema::ItemKind kind,
                        std::uint32_t trace,
                        analysis::Items& items);

}  // namespace dyetrace::query
