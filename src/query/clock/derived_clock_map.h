// The table `clock_map`: joins the messages of the store to the clock of the analysis.
#pragma once

#include <string_view>

#include "base/result.h"
#include "store/database.h"

namespace dyetrace::query {

// From now on a statement that names `clock_map` has it computed. `database` must outlive what it is asked.
void offer_clock_map(store::Database& database);

// offer_clock_map(), and the times of `events` by that word: cluster, wall or raw.
void use_clock(store::Database& database, std::string_view clock);

}  // namespace dyetrace::query
