// The part of a timeline that is looked at: a stretch of time as wide as some pixels.
//
//   from_ns                                  to_ns
//   ├──────┼──────┼──────┼── … ──┼──────┼──────┤
//      0      1      2      …       width - 1            pixels
#pragma once

#include <cstdint>

namespace dyetrace::api {

struct TimeWindow {
    static constexpr std::uint32_t kWidthMax = 8192;  // two 4K screens beside each other

    std::uint64_t from_ns = 0;
    std::uint64_t to_ns = 1;  // after from_ns
    std::uint32_t width = 1;  // 1 to kWidthMax

    double pixels_per_ns() const {
        return static_cast<double>(width) / static_cast<double>(to_ns - from_ns);
    }
    // The position in pixels; it is below 0 or above `width` outside.
    double position(std::uint64_t time_ns) const {
        const double since_from_ns = time_ns >= from_ns ? static_cast<double>(time_ns - from_ns)
                                                        : -static_cast<double>(from_ns - time_ns);
        return since_from_ns * pixels_per_ns();
    }
    // A moment at its end is not in it, one at its begin is.
    bool touches(std::uint64_t begin_ns, std::uint64_t end_ns) const {
        return begin_ns < to_ns && (end_ns > from_ns || begin_ns >= from_ns);
    }
};

}  // namespace dyetrace::api
