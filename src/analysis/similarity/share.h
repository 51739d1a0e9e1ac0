// A share that is known from a sample, with its error: of `whole` anchors `part` have a property.
//
//   share_of(50, 100)    0.50, between 0.39 and 0.61
//   share_of(3, 3)       1.00, between 0.27 and 1
//   share_of(0, 0)       unknown: between 0 and 1
//
// Content chooses its anchors as a key of its hash decides, each different window with the same chance and almost independently: the
// part is binomially distributed. The interval is Wilson's with continuity correction, which holds the true share in at least 95 of
// 100 cases, also of few anchors.
#pragma once

#include <cstdint>

namespace dyetrace::analysis {

struct Share {
    double estimate = 0, low = 0, high = 1;
};

// Windows that overlap are chosen a little more often together than by chance: as many anchors tell as much as so many fewer
// independent ones. Measured on texts, sources, logs and programs (docs/similarity.md).
inline constexpr double kDesignEffect = 1.15;

Share share_of(std::uint64_t part, std::uint64_t whole);

}  // namespace dyetrace::analysis
