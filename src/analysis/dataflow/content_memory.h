// What processes have taken in, by content: a read and a later write of one process (or of one that it made afterwards) with
// the same fingerprint and length moved the same bytes, whatever the program did between.
//
//   read(4096 bytes, F) ── … ── write(4096 bytes, F)      flow read ─► write, rule hash, likely
//
// Of several reads of the same bytes the last one is meant. Shorter pieces than kHashBytesMin are equal by chance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/dataflow/ancestry.h"
#include "analysis/dataflow/flow.h"
#include "analysis/dataflow/operation.h"

namespace dyetrace::analysis {

inline constexpr std::uint64_t kHashBytesMin = 16;

class ContentMemory {
  public:
    // Remembers `reads_max` reads, the last ones, and up to twice as many.
    // `ancestry` must outlive it.
    ContentMemory(std::size_t reads_max, const Ancestry& ancestry)
        : reads_max_(reads_max), ancestry_(&ancestry) {}

    void read(const Operation& operation, const Act& act);
    // Whether all bytes of the write are accounted for.
    bool write(const Operation& operation, const Act& act, std::vector<Flow>& flows) const;

    std::uint64_t forgotten() const { return forgotten_; }

  private:
    struct Key {
        std::uint64_t process, fingerprint, bytes;
        friend bool operator==(const Key&, const Key&) = default;
    };
    struct HashOfKey {
        std::size_t operator()(const Key& key) const {
            return key.fingerprint ^ key.process * 0x9e3779b97f4a7c15u ^ key.bytes << 1;
        }
    };
    using Reads = std::unordered_map<Key, Act, HashOfKey>;

    const Act* find(const Key& key) const;

    std::size_t reads_max_;
    const Ancestry* ancestry_;
    Reads young_, old_;
    std::uint64_t forgotten_ = 0;
};

}  // namespace dyetrace::analysis
