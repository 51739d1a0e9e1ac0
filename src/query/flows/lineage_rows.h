// Reads from a trace who may have bytes from whom without a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/dataflow/operation.h"
#include "base/result.h"
#include "store/database.h"

namespace dyetrace::query {

Result<std::vector<analysis::ProcessLink>> load_processes(store::Database& database);

// How many programs a process ran one after the other, without those it began with.
class ProgramsRun {
  public:
    static Result<ProgramsRun> of(store::Database& database);
    // By this time on the clock of its host.
    std::size_t by(std::uint64_t process, std::uint64_t time_ns) const;

  private:
    std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> starts_;  // by process, in order
};

// Reads who made whom, and who shares memory with whom: mappings that were there when the recording began, and those of later.
Result<analysis::Lineage> load_lineage(store::Database& database);

}  // namespace dyetrace::query
