// Which moments of all threads lie before a moment: the edges of a trace, sorted by the thread that they lead to.
//
// A thread's past is one moment per thread, as with vector clocks: the last one of each that can have mattered. None of these is kept.
// A question walks back from edge to edge, latest moment first, so that each thread is met once with its final moment: the ranks
// of CausalOrder make that possible. Edges between the same two threads stand together too: of many only the last before the moment
// counts, so that a walk takes the edges of its stretch of time or the pairs of threads that ever spoke, whichever is less.
//
// What arrives at the moment at which something leaves is not in it.
//
// Memory: 44 bytes an edge, 24 for each two threads that ever spoke. Worst case of a walk: all pairs of threads that ever spoke, times log edges; usual: the few edges
// between the two moments (docs/causality.md has the measurements).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/causality/cause_edge.h"

namespace dyetrace::analysis {

// Holds for each thread, by its number in the index, one more than its last moment that is in the
// past; 0: nothing is.
using Past = std::vector<std::uint64_t>;

class CauseIndex {
  public:
    static constexpr std::uint32_t kNoThread = UINT32_MAX;

    explicit CauseIndex(std::span<const CauseEdge> edges);

    std::uint32_t number_of(std::uint64_t thread) const;

    // The rank of the last edge into the thread up to `at`; 0: there is none. `arrives` gets whether there is one.
    const std::uint64_t* last_rank(std::uint32_t thread, std::uint64_t at) const;

    // Whether `target` from `target_at` on lies in the past of `thread` at `at`. Nothing with a rank below `floor` can be on the way.
    bool reaches(std::uint32_t thread,
                 std::uint64_t at,
                 std::uint32_t target,
                 std::uint64_t target_at,
                 std::uint64_t floor) const;

    // All of it, but for `thread` itself up to `at`.
    Past past_of(std::uint32_t thread, std::uint64_t at) const;

  private:
    struct Arrival {
        std::uint64_t to_at, to_rank, from_at, from_rank;
        std::uint32_t from;
    };
    // Arrivals of one thread from another one; `begin` and `end` in from_pair_.
    struct Pair {
        std::uint32_t from;
        std::size_t begin, end;
    };
    struct Thread {
        std::size_t begin = 0, end = 0;              // in arrivals_, by to_at
        std::size_t pairs_begin = 0, pairs_end = 0;  // in pairs_
    };
    class Walk;

    void sort_pairs();
    template <typename Visit>
    void each_before(std::uint32_t thread,
                     std::uint64_t at,
                     std::uint64_t floor,
                     Visit&& visit) const;

    std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
    std::vector<Thread> threads_;
    std::vector<Arrival> arrivals_;
    std::vector<std::uint32_t> from_pair_;  // positions in arrivals_, pair after pair, by to_at
    std::vector<Pair> pairs_;
};

}  // namespace dyetrace::analysis
