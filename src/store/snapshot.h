// Which files hold a trace at one moment: each event once. For this folder's sources only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/sealed_files.h"
#include "trace/segment_reader.h"
#include "trace/trace_folder.h"

namespace dyetrace::store {

struct Snapshot {
    trace::TraceState state = trace::TraceState::kFinished;
    std::vector<trace::Host> hosts;
    std::vector<SealedFolder> sealed;            // in order; not sealed-000000, it has no rows
    std::vector<trace::SegmentReader> segments;  // open, verified: they may be unlinked from now on
    std::vector<trace::LostRange> lost;  // by damage, deleted files and the recorder's death
    std::vector<std::string> damages;    // files that cannot be read, a line each
};

// Whether records of a kind may be in it; segments are not asked.
bool may_have(const Snapshot& snapshot, const std::string& record);

// The bytes of all sealed files; none if a folder does not say so.
std::optional<std::uint64_t> sealed_bytes(const Snapshot& snapshot);

Result<Snapshot> take_snapshot(trace::TraceFolder& folder, SealedFiles& files);

// Files that have the same columns: who reads them need look at the first one's only. A trace of many hosts has thousands.
struct AlikeFiles {
    std::uint64_t columns = 0;  // 0: nobody knows whether they are alike
    std::vector<std::string> paths;
};

// Paths of <record>.parquet in those folders, where there is a whole one.
std::vector<AlikeFiles> parquet_files(std::span<const SealedFolder> folders,
                                      const std::string& record);

}  // namespace dyetrace::store
