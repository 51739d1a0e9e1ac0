// Which files hold a trace at one moment: each event once. For this folder's sources only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/segment_reader.h"
#include "trace/trace_folder.h"

namespace dyetrace::store {

struct Snapshot {
    trace::TraceState state = trace::TraceState::kFinished;
    std::vector<std::string> sealed_folders;     // in order; with sealed-000000 if it is there
    std::vector<trace::SegmentReader> segments;  // open, verified: they may be unlinked from now on
    std::vector<trace::LostRange> lost;  // by damage, deleted files and the recorder's death
};

Result<Snapshot> take_snapshot(trace::TraceFolder& folder);

// Paths of <record>.parquet in those folders, where there is one.
std::vector<std::string> parquet_files(const Snapshot& snapshot, const std::string& record);

}  // namespace dyetrace::store
