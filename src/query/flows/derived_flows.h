// The table `flows`: joins the events of the store to the rules of the analysis.
#pragma once

#include "base/result.h"
#include "store/database.h"

namespace dyetrace::query {

// From now on a statement that names `flows` has them computed. `database` must outlive what it is asked.
void offer_flows(store::Database& database);

}  // namespace dyetrace::query
