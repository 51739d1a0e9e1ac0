// What the clock knows of the hosts: messages that went between them, and what is assumed of their clocks.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace dyetrace::analysis {

// Bytes that went from one host to another: when the call that sent the last of them began, when the one that took it had ended. In true
// time the first is not after the second; that is all that is used of it.
struct ClockMessage {
    base::Instant<base::HostClock> sent;
    base::Instant<base::HostClock> received;
};

// What holds of any two clocks, except where one of them steps or stands still.
struct ClockAssumptions {
    // They never run apart faster. Crystals are within 100 or 200 ppm, each; a kernel that is told to catch up adds to that.
    double rate_apart_max = 500e-6;
    // That rate changes by no more than this in a second. A crystal changes by some 0.1 ppm per degree, and no machine is heated by a
    // degree in a second.
    double wander_max_per_s = 0.1e-6;
};

}  // namespace dyetrace::analysis
