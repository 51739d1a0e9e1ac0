// Which act owns which bytes of one object: ranges that do not overlap, in order.
//
//   put(0, 100, a); put(40, 60, b)    ─►    [0,40) a   [40,60) b   [60,100) a
//   cut(50, 80)                       ─►    [0,40) a   [40,50) b   [80,100) a
//
// O(log extents) to find, O(1) for each that is touched; writing on behind the last one is O(1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <vector>

#include "analysis/flow.h"

namespace dyetrace::analysis {

// Other acts that may own the bytes as well, because they overlapped in time. Who comes later is left out.
inline constexpr std::size_t kOthersMax = 3;

struct Extent {
    std::uint64_t end = 0;
    Act act;
    std::vector<Act> others;
};

// What all maps of one analysis share: memory, and how many extents live.
struct ExtentPool {
    std::pmr::unsynchronized_pool_resource memory;
    std::size_t live = 0;
};

class ExtentMap {
  public:
    explicit ExtentMap(ExtentPool& pool) : pool_(pool), extents_(&pool.memory) {}
    ~ExtentMap() { pool_.live -= extents_.size(); }
    ExtentMap(const ExtentMap&) = delete;
    ExtentMap& operator=(const ExtentMap&) = delete;

    bool empty() const { return extents_.empty(); }

    // begin < end in all of these.
    void put(std::uint64_t begin, std::uint64_t end, const Act& act, std::vector<Act> others = {});
    void cut(std::uint64_t begin, std::uint64_t end);

    // Calls visit(begin, end, extent) for each part of the range that has an owner, from the left.
    template <typename Visit>
    void each(std::uint64_t begin, std::uint64_t end, Visit&& visit) const {
        for (auto at = first_in(begin); at != extents_.end() && at->first < end; ++at) {
            visit(std::max(begin, at->first), std::min(end, at->second.end), at->second);
        }
    }

    // Ends of the acts of all extents, in any order, are added.
    void add_ends(std::vector<std::uint64_t>& ends_ns) const;
    // Extents of acts that ended before that.
    void forget_before(std::uint64_t end_ns);

  private:
    using Map = std::pmr::map<std::uint64_t, Extent>;

    Map::const_iterator first_in(std::uint64_t begin) const;
    Map::iterator split(Map::iterator extent, std::uint64_t at);

    ExtentPool& pool_;
    Map extents_;
};

}  // namespace dyetrace::analysis
