// The table `twins`: calls that two agents on one kernel both recorded; and the trace without them, internal.lone_…, which flows, edges and the clock read
// (sql/lone.sql).
//
//   host a   send ───  recv ──      of one kernel, by its boot id
//   host b   send ───  recv ──      twins: neither host a's peer nor one more call
#pragma once

#include <string>

#include "base/result.h"
#include "store/database.h"

namespace dyetrace::query {

// From now on statements may name `twins` and internal.lone_…. `database` must outlive what it is asked.
void offer_twins(store::Database& database);

// Has them found, for statements that cannot wait for them: those of scan_numbers().
Result<void> make_twins(store::Database& database);

// In words, which hosts are one kernel; empty: none.
Result<std::string> shared_kernels(store::Database& database);

}  // namespace dyetrace::query
