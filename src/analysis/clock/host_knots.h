// The knots of one host, before they are a map.
#pragma once

#include <vector>

#include "analysis/clock/clock_map.h"
#include "analysis/clock/clock_state.h"

namespace dyetrace::analysis {

// Sorts knots by the host's clock, and keeps each time once.
void sort_knots(std::vector<ClockKnot>& knots);

// Between the last knot that is sure to be before a step and the first that is sure to be after it,
// the time may be what either of them says, as far as the rate can be off. Until cut.last_old the
// map follows the first, from cut.begins on the second, where it has no knots of its own. Knots
// sorted.
void bridge_step(std::vector<ClockKnot>& knots, const HostCut& cut, double rate_apart_max);

// A knot on the line between its neighbours; none where there is one, or beyond the ends. Knots sorted.
void add_between(std::vector<ClockKnot>& knots, std::int64_t host_ns);

// Where the map would run backwards it waits. Knots sorted.
void never_backwards(std::vector<ClockKnot>& knots);

}  // namespace dyetrace::analysis
