// The tables of cause, made when they are first asked for: handovers, edges, causal_clocks, contradictions.
#pragma once

#include "store/database.h"

namespace dyetrace::query {

void offer_causes(store::Database& database);

}  // namespace dyetrace::query
