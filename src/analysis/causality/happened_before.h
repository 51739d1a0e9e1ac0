// Whether one event happened before another one: it had begun before the other one ended, and there is a chain of causes between.
//
//   HappenedBefore order(edges);
//   order.between(a, b)          a → b?
//   const Cone cone = order.after(a);  order.reaches(cone, b)      the same for one a and many b, each at the cost of a look-up
//
// Two events of one thread are ordered if one ended before the other began. With a cone a question
// costs O(1); without one see cause_index.h.
#pragma once

#include <cstdint>
#include <span>

#include "analysis/causality/cause_index.h"

namespace dyetrace::analysis {

// All that an event can have been affected by, or can have affected.
struct Cone {
    EventPlace of;
    Past moments;
};

class HappenedBefore {
  public:
    explicit HappenedBefore(std::span<const CauseEdge> edges);

    bool between(const EventPlace& a, const EventPlace& b) const;

    Cone before(const EventPlace& event) const;
    Cone after(const EventPlace& event) const;
    bool in_past(const EventPlace& event, const Cone& before) const;
    bool in_future(const EventPlace& event, const Cone& after) const;

  private:
    CauseIndex back_;
    CauseIndex ahead_;  // time runs backwards in it: ~ns
};

}  // namespace dyetrace::analysis
