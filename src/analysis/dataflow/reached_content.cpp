#include "analysis/dataflow/reached_content.h"

namespace dyetrace::analysis {
namespace {

// Keys are hashes: multiples of an odd number keep those of different places apart.
std::uint64_t key_in(ReachedContent::Place place, std::uint64_t key) {
    return key ^ (place * 0x9e3779b97f4a7c15u);
}

}  // namespace

ReachedContent::Place ReachedContent::place_of(const Operation& operation) {
    const auto [place, is_new] =
        places_.try_emplace({operation.process, operation.from.object, operation.to.object},
                            static_cast<Place>(before_.size()));
    if (is_new) {
        before_.push_back(kNone);
    }
    return place->second;
}

void ReachedContent::lead(Place near, Place far) {
    if (far != kStart && far != near && before_[far] == kNone) {
        before_[far] = near;
    }
}

void ReachedContent::meet(Place place, std::uint64_t key) {
    met_.insert(key_in(place, key));
}

bool ReachedContent::has_met(Place place, std::uint64_t key) const {
    for (std::size_t i = 0; place != kNone && i < kWayMax; ++i, place = before_[place]) {
        if (met_.contains(key_in(place, key))) {
            return true;
        }
    }
    return false;
}

}  // namespace dyetrace::analysis
