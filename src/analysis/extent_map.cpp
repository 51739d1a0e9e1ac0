#include "analysis/extent_map.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace dyetrace::analysis {

// The first extent that reaches behind `begin`.
ExtentMap::Map::const_iterator ExtentMap::first_in(std::uint64_t begin) const {
    auto at = extents_.upper_bound(begin);
    if (at != extents_.begin() && std::prev(at)->second.end > begin) {
        --at;
    }
    return at;
}

// Returns the right part; `at` lies inside the extent.
ExtentMap::Map::iterator ExtentMap::split(Map::iterator extent, std::uint64_t at) {
    Extent right = extent->second;
    extent->second.end = at;
    ++pool_.live;
    return extents_.emplace_hint(std::next(extent), at, std::move(right));
}

void ExtentMap::cut(std::uint64_t begin, std::uint64_t end) {
    if (extents_.empty() || extents_.rbegin()->second.end <= begin) {
        return;  // behind the last one, where files and streams grow
    }
    auto at = extents_.upper_bound(begin);
    if (at != extents_.begin() && std::prev(at)->second.end > begin) {
        --at;
        at = at->first < begin ? split(at, begin) : at;
    }
    while (at != extents_.end() && at->first < end) {
        if (at->second.end > end) {
            split(at, end);
        }
        at = extents_.erase(at);
        --pool_.live;
    }
}

void ExtentMap::put(std::uint64_t begin,
                    std::uint64_t end,
                    const Act& act,
                    std::vector<Act> others) {
    cut(begin, end);
    const auto behind = extents_.empty() || extents_.rbegin()->first < begin
                            ? extents_.end()
                            : extents_.upper_bound(begin);
    extents_.emplace_hint(behind, begin, Extent{end, act, std::move(others)});
    ++pool_.live;
}

void ExtentMap::add_ends(std::vector<std::uint64_t>& ends_ns) const {
    for (const auto& [begin, extent] : extents_) {
        ends_ns.push_back(extent.act.end_ns);
    }
}

void ExtentMap::forget_before(std::uint64_t end_ns) {
    pool_.live -= std::erase_if(
        extents_, [&](const auto& entry) { return entry.second.act.end_ns < end_ns; });
}

}  // namespace dyetrace::analysis
