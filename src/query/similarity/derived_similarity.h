// The tables `similarities` and `clusters`: joins the anchors of the store to the analysis.
#pragma once

#include "base/result.h"
#include "store/database.h"

namespace dyetrace::query {

// From now on a statement that names them has them computed. `database` must outlive what it is asked.
void offer_similarities(store::Database& database);

}  // namespace dyetrace::query
