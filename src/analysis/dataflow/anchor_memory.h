// What processes have taken in, by anchors: where a write has windows that an earlier read of the same process (or of one that made
// it) has too, the bytes between the first and the last of them are the same, however the program cut, framed or joined them.
//
//   read A   |....a......b...|                a, b, c: anchors
//   read B                   |..c......|
//   write        |head|..a......b.....c..     flows A ─► write (a to the border of A and B), B ─► write (to the end of c)
//
// Two reads that follow each other in their file or stream, and do so in the write, meet at their border; at the ends a flow is as
// long as the anchors show. Of several reads of the same bytes the last one is meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/dataflow/ancestry.h"
#include "analysis/dataflow/flow.h"
#include "analysis/dataflow/operation.h"

namespace dyetrace::analysis {

class AnchorMemory {
  public:
    // Remembers `anchors_max` anchors, the last ones, and up to twice as many. `ancestry` must outlive it.
    AnchorMemory(std::size_t anchors_max, const Ancestry& ancestry)
        : anchors_max_(anchors_max), ancestry_(&ancestry) {}

    void read(const Operation& operation, const Act& act);
    void write(const Operation& operation, const Act& act, std::vector<Flow>& flows) const;

    std::uint64_t forgotten() const { return forgotten_; }

  private:
    struct Key {
        std::uint64_t process, fingerprint;
        friend bool operator==(const Key&, const Key&) = default;
    };
    struct HashOfKey {
        std::size_t operator()(const Key& key) const {
            return key.fingerprint ^ key.process * 0x9e3779b97f4a7c15u;
        }
    };
    struct Seen {
        std::uint64_t event = 0, object = 0, begin = kUnknown, end_ns = 0;
        std::int64_t position = 0;
    };
    using Seens = std::unordered_map<Key, Seen, HashOfKey>;

    std::optional<Seen> find(const Operation& operation, std::uint64_t fingerprint) const;

    std::size_t anchors_max_;
    const Ancestry* ancestry_;
    Seens young_, old_;
    std::uint64_t forgotten_ = 0;
};

}  // namespace dyetrace::analysis
