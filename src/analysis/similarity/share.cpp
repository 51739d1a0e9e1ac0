#include "analysis/similarity/share.h"

#include <algorithm>
#include <cmath>

namespace dyetrace::analysis {
namespace {

constexpr double kZ =
    1.959964;  // 95 % of a normal distribution lie within so many standard deviations

// One end of Wilson's interval with continuity correction (Newcombe 1998, method 4); the other one is that of the rest.
double lower_end(double p, double n) {
    if (p == 0) {
        return 0;
    }
    const double spread = std::max(0.0, kZ * kZ - 2 - 1 / n + 4 * p * (n * (1 - p) + 1));
    return std::clamp(
        (2 * n * p + kZ * kZ - 1 - kZ * std::sqrt(spread)) / (2 * (n + kZ * kZ)), 0.0, p);
}

}  // namespace

Share share_of(std::uint64_t part, std::uint64_t whole) {
    if (whole == 0) {
        return {};
    }
    const double p = static_cast<double>(part) / static_cast<double>(whole);
    const double independent = std::max(1.0, static_cast<double>(whole) / kDesignEffect);
    return {p, lower_end(p, independent), 1 - lower_end(1 - p, independent)};
}

}  // namespace dyetrace::analysis
