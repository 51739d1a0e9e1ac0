// The table function _records('syscall_event'): records of segments as rows, decoded while a query reads them.
//
//   segments ─► blocks that hold the type ─► chunks of up to 2,048 rows ─► any query, or COPY … TO a Parquet file
//
// Nothing is loaded before and nothing is kept after; a query decodes the columns that it names and blocks of other types
// are not even read. With one thread the rows come in the order of `blocks`.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "store/duckdb_engine.h"
#include "trace/segment_reader.h"

namespace dyetrace::store {

struct ScanBlock {
    const trace::SegmentReader* segment;
    trace::BlockHeader header;
};

struct RecordSource {
    std::vector<ScanBlock> blocks;
    int threads = 1;
};

// `source` must outlive the engine's queries and may change between them. `name` is what SQL calls the function.
Result<void> register_record_scan(const Engine& engine,
                                  const RecordSource& source,
                                  const char* name = "_records");

}  // namespace dyetrace::store
