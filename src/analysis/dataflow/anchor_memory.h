// What processes have taken in, by anchors: where a write has windows that an earlier read of the same process (or of one whose bytes
// it may have, recall.h) has too, the bytes between the first and the last of them are the same, however the program cut, framed or joined them.
//
//   read A   |....a......b...|                a, b, c: anchors
//   read B                   |..c......|
//   write        |head|..a......b.....c..     flows A ─► write (a to the border of A and B), B ─► write (to the end of c)
//
// Two reads that follow each other in their file or stream, and do so in the write, meet at their border; at the ends a flow is as
// long as the anchors show. If several calls read the same bytes, the last read is meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/dataflow/flow.h"
#include "analysis/dataflow/operation.h"
#include "analysis/dataflow/recall.h"

namespace dyetrace::analysis {

class AnchorMemory {
  public:
    // Remembers `anchors_max` anchors, and up to twice as many. `ancestry` must outlive it.
    AnchorMemory(std::size_t anchors_max, const Ancestry& ancestry)
        : recall_(anchors_max, ancestry) {}

    void read(const Operation& operation, const Act& act);
    void write(const Operation& operation, const Act& act, std::vector<Flow>& flows) const;

    std::uint64_t forgotten() const { return recall_.forgotten(); }

  private:
    Recall recall_;
};

}  // namespace dyetrace::analysis
