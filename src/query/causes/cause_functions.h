// happened_before(a, b), concurrent(a, b), causes(event, depth), logical_order(event), for SQL.
#pragma once

#include "store/database.h"

namespace dyetrace::query {

Result<void> register_cause_functions(store::Database& database);

}  // namespace dyetrace::query
