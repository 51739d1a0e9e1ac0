// Reads from a trace who may have bytes from whom without a call.
#pragma once

#include <vector>

#include "analysis/dataflow/operation.h"
#include "base/result.h"
#include "store/database.h"

namespace dyetrace::query {

Result<std::vector<analysis::ProcessLink>> load_processes(store::Database& database);

// Reads who made whom, and who shares memory with whom: mappings that were there when the recording began, and those of later.
Result<analysis::Lineage> load_lineage(store::Database& database);

}  // namespace dyetrace::query
