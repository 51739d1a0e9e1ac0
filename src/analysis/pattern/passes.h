// Passes (epochs) over a file or a set of files: a pass begins anew when what was read comes again.
//
//   reads    A B C D E F   C A F B E D   A B …          A to F: ranges of bytes, in any order
//   pass     1             2             3
//
// What was read comes again for other reasons, too: a header that is read before each record, an index page. So a pass ends
// when, of what comes, more has been met in this pass than not, counted as a change-point detector does (CUSUM): up for a
// range that comes again, down for a new one, and a range that comes twice meanwhile counts once. When that reaches
// kAgainMin, or all that the pass had (but kPassMin), the new pass began where it left 0.
//
// Accesses taken at random with repetition have no passes: passes_of gives one, with `revisits`, when too much of what is
// in a pass was accessed several times in it.
//
// Time n log n; memory: the ranges of one pass, and of the candidate for the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/pattern/access.h"
#include "analysis/pattern/permutation.h"

namespace dyetrace::analysis {

inline constexpr std::size_t kAgainMin =
    16;  // ranges; a program that meets so many again is going over them again
inline constexpr std::size_t kPassMin = 3;    // ranges; what is smaller has no order to speak of
inline constexpr double kOnceShareMin = 0.8;  // of the places where accesses of a pass begin

// This pass beside the one before it. Compared are the pieces of bytes that both read, cut so that they fit both: other
// sizes of reads do not make another order.
struct Comparison {
    Permutation pieces;        // of all files, in the order of time
    Permutation files;         // in the order in which they were first read
    Permutation within_files;  // pieces of each file by itself
    std::uint64_t common_bytes = 0;
};

struct Pass {
    std::size_t first = 0;  // of the accesses
    std::size_t accesses = 0;
    std::uint64_t moved_bytes = 0;
    std::uint64_t distinct_bytes = 0;
    std::uint64_t files = 0;
    std::optional<Comparison> beside_previous;
};

struct Passes {
    std::vector<Pass> passes;  // at least one if there is an access
    bool revisits = false;
};

Passes passes_of(std::span<const Access> accesses);

// The accesses with a fingerprint, as accesses of one made-up file in which each content has its place, in the order of its
// first appearance. What is found of that is found by content: the same records in other files, or at other offsets. Left out
// is what is too short to be known by its content: lengths and counters come again by chance.
inline constexpr std::uint64_t kContentBytesMin = 16;
std::vector<Access> by_content(std::span<const Access> accesses);

}  // namespace dyetrace::analysis
