// Which content a trail had met on its way to somewhere.
//
//   start ─► gzip writes /packed ─► curl reads /packed ─► curl writes socket ─► …        each a place: one process, one object, one direction
//              content A                                   had A on its way
//        └─► gzip reads libc                               and not what was read here: no way leads from there to the socket
//
// Content is a 64-bit key: a fingerprint of a whole call, or of an anchor. Memory: some 40 bytes per key and place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "analysis/dataflow/operation.h"

namespace dyetrace::analysis {

class ReachedContent {
  public:
    using Place = std::uint32_t;
    static constexpr Place kStart = 0;            // what was asked about: on the way to everything
    static constexpr std::size_t kWayMax = 1000;  // places; what lies farther back is not looked at

    Place place_of(const Operation& operation);
    // The trail came from `near` to `far`; the first way counts.
    void lead(Place near, Place far);
    void meet(Place place, std::uint64_t key);
    // On the way from the start to there, or there.
    bool has_met(Place place, std::uint64_t key) const;

  private:
    static constexpr Place kNone = UINT32_MAX;

    std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, Place>
        places_;  // by process and objects
    std::vector<Place> before_{kNone};
    std::unordered_set<std::uint64_t> met_;  // keys with their places
};

}  // namespace dyetrace::analysis
