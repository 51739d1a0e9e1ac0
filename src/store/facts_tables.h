// Small tables that come from no record: the hosts of trace.json, and gaps that no recorder could write down.
#pragma once

#include <vector>

#include "base/result.h"
#include "store/duckdb_engine.h"
#include "trace/segment_reader.h"
#include "trace/trace_folder.h"

namespace dyetrace::store {

// Appends to internal.live_gap (schema::live_tables_sql() makes it).
Result<void> insert_gaps(const Engine& engine, const std::vector<trace::LostRange>& lost);

// Gaps of a trace of one host are that host's.
void name_host(std::vector<trace::LostRange>& lost, const trace::TraceFolder& folder);

// Makes internal.hosts.
Result<void> make_hosts_table(const Engine& engine, const std::vector<trace::Host>& hosts);

}  // namespace dyetrace::store
