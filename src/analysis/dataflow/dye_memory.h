// What processes have taken in, by dyes: where a write carries a dye that an earlier read carried too, of the same process or of one whose
// bytes it may have (recall.h), the dye went from the one to the other, in whatever form it was written.
//
//   read |...card=4929...|  ── … ──  write |{"card":"NDkyOQ=="}|      flow read ─► write, the dye's bytes on both sides
//
// If several calls read the dye, the last read is meant. A flow is as long as the shorter of the
// two forms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/dataflow/flow.h"
#include "analysis/dataflow/operation.h"
#include "analysis/dataflow/recall.h"

namespace dyetrace::analysis {

class DyeMemory {
  public:
    // Remembers `dyes_max` occurrences, and up to twice as many. `ancestry` must outlive it.
    DyeMemory(std::size_t dyes_max, const Ancestry& ancestry) : recall_(dyes_max, ancestry) {}

    void read(const Operation& operation, const Act& act);
    void write(const Operation& operation, const Act& act, std::vector<Flow>& flows) const;

    std::uint64_t forgotten() const { return recall_.forgotten(); }

  private:
    Recall recall_;
};

}  // namespace dyetrace::analysis
