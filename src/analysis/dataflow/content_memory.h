// What processes have taken in, call by call: a read and a later write with the same fingerprint and length, of one process or of
// two of which one knows what the other does (recall.h), moved the same bytes, whatever the program did between.
//
//   read(4096 bytes, F) ── … ── write(4096 bytes, F)      flow read ─► write, rule hash, likely
//
// If several calls read the same bytes, the last read is meant. Shorter pieces than kHashBytesMin
// are equal by chance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/dataflow/flow.h"
#include "analysis/dataflow/operation.h"
#include "analysis/dataflow/recall.h"

namespace dyetrace::analysis {

inline constexpr std::uint64_t kHashBytesMin = 16;

// The key is made of the fingerprint, which must be there, and the length.
inline std::uint64_t content_key(const Operation& operation) {
    return *operation.fingerprint ^ operation.bytes * 0x9e3779b97f4a7c15u;
}

class ContentMemory {
  public:
    // Remembers `reads_max` reads, and up to twice as many. `ancestry` must outlive it.
    ContentMemory(std::size_t reads_max, const Ancestry& ancestry) : recall_(reads_max, ancestry) {}

    void read(const Operation& operation, const Act& act);
    // Whether all bytes of the write are accounted for.
    bool write(const Operation& operation, const Act& act, std::vector<Flow>& flows) const;

    std::uint64_t forgotten() const { return recall_.forgotten(); }

  private:
    Recall recall_;
};

}  // namespace dyetrace::analysis
