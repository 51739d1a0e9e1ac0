// Which act owns which bytes of one object: ranges that do not overlap, in order.
//
//   put(0, 100, a); put(40, 60, b)    ─►    [0,40) a   [40,60) b   [60,100) a
//   cut(50, 80)                       ─►    [0,40) a   [40,50) b   [80,100) a
//
// Extents lie in leaves of up to kLeafExtents, which a sorted array of their first positions finds:
//
//   firsts_   0 ──────── 4096 ─────── 81920 …       O(log extents) to find one, and few cache lines
//   leaves_   [0,40)…    [4096,…)…    [81920,…)…    changed in place; after the last extent nothing is moved
//
// Measured (flow_engine_bench, pages): three times as fast as std::map with 100,000 extents.
//
// A leaf may be away: in the pool's store, until somebody reaches for it. put_away_before() sends there what was not reached for
// lately, forget_before() loses it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/dataflow/extent_store.h"
#include "analysis/dataflow/flow.h"

namespace dyetrace::analysis {

// Other acts that may own the bytes as well, because they overlapped in time. Who ended first is left out.
inline constexpr std::size_t kOthersMax = 3;

struct Extent {
    std::uint64_t end = 0;
    Act act;
    std::shared_ptr<const std::vector<Act>>
        others;  // shared by the parts of an extent that was split; null: none
};

// What all maps of one analysis share.
struct ExtentPool {
    std::size_t live = 0;    // extents in memory
    std::size_t leaves = 0;  // there and away
    std::uint64_t reached =
        0;  // how often a leaf was reached for: the time by which leaves are old
    std::uint64_t put_away = 0;   // extents, each time
    std::uint64_t forgotten = 0;  // extents
    std::uint64_t crowded_out =
        0;  // acts beyond kOthersMax that overlapped in time with all others that own the bytes
    std::uint64_t cut_ns = 0;  // when a file was last cut of which nobody knows which one it was
    ExtentStore* store = nullptr;
};

class ExtentMap {
  public:
    static constexpr std::size_t kLeafExtents = 64;  // 4.6 KB: a change moves half of that at most

    explicit ExtentMap(ExtentPool& pool) : pool_(pool) {}
    ~ExtentMap();
    ExtentMap(const ExtentMap&) = delete;
    ExtentMap& operator=(const ExtentMap&) = delete;

    bool empty() const { return leaves_.empty(); }

    // begin < end in all of these.
    void put(std::uint64_t begin, std::uint64_t end, const Act& act, std::vector<Act> others = {});
    void cut(std::uint64_t begin, std::uint64_t end);

    // The extent that is exactly this range, for its owner to be changed; nullptr if there is none.
    Extent* find(std::uint64_t begin, std::uint64_t end);

    // Calls visit(begin, end, extent) for each part of the range that has an owner, from the left.
    template <typename Visit>
    void each(std::uint64_t begin, std::uint64_t end, Visit&& visit) {
        for (Place at = first_ending_after(begin); at.leaf < leaves_.size(); step(at)) {
            if (at.index == 0 && firsts_[at.leaf] >= end) {
                return;
            }
            const Leaf& leaf = at.index == 0 ? reach(at.leaf) : leaves_[at.leaf];
            if (at.index == leaf.begins.size()) {
                continue;  // it was lost
            }
            if (leaf.begins[at.index] >= end) {
                return;
            }
            visit(std::max(begin, leaf.begins[at.index]),
                  std::min(end, leaf.extents[at.index].end),
                  leaf.extents[at.index]);
        }
    }

    // When each leaf was reached for last is added: of those in memory, or of all.
    void add_reached(std::vector<std::uint64_t>& reached, bool those_away) const;
    // Leaves that were not reached for since; into the store, or, where that has no room, forgotten.
    void put_away_before(std::uint64_t reached);
    void forget_before(std::uint64_t reached);

  private:
    struct Leaf {  // empty only if the store could not give it back
        std::vector<std::uint64_t> begins;
        std::vector<Extent> extents;
        std::uint64_t reached = 0;
        // While it is away:
        std::uint32_t count = 0;  // extents; 0: it is here
        std::uint64_t end = 0;    // of the last one
        std::uint64_t ticket = 0;

        bool is_away() const { return count > 0; }
        std::size_t size() const { return is_away() ? count : begins.size(); }
        std::uint64_t last() const {
            return is_away() ? end : extents.empty() ? 0 : extents.back().end;
        }
    };
    struct Place {
        std::size_t leaf, index;
    };

    // The first extent that ends after `position`; leaf is leaves_.size() if there is none.
    Place first_ending_after(std::uint64_t position);
    void step(Place& place) const;
    void insert(std::uint64_t begin, Extent extent);
    void split(std::size_t leaf);
    // Takes what ends by `end` off the leaf from `index` on, and the head of what ends later.
    void cut_in(std::size_t leaf, std::size_t index, std::uint64_t end);
    // Leaves [from, to), wherever they are.
    void erase_leaves(std::size_t from, std::size_t to);
    template <typename Unwanted>
    void forget_if(Unwanted&& is_unwanted);

    // The leaf, in memory.
    Leaf& reach(std::size_t leaf) {
        leaves_[leaf].reached = ++pool_.reached;
        if (leaves_[leaf].is_away()) {
            bring_back(leaves_[leaf]);
        }
        return leaves_[leaf];
    }
    void bring_back(Leaf& leaf);
    bool put_away(Leaf& leaf);

    ExtentPool& pool_;
    std::vector<std::uint64_t> firsts_;  // where each leaf's first extent begins
    std::vector<Leaf> leaves_;
};

}  // namespace dyetrace::analysis
