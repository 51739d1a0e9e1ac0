// How far one order of items is from another.
//
//   first pass    A B C D E F          order: the places in the first pass of what the second one met
//   second pass   C D A B E F          2 3 0 1 4 5
//
//   distance      pairs met the other way round, of all pairs (Kendall's tau, normalised): 4 of 15 = 0.27
//                 0 the same order · 1 reversed · 0.5 what a random order gives
//   same place    2 of 6
//   blocks        stretches that stayed together: C D · A B · E F = 3
//   look-ahead    how far ahead of the first order something came: C, two places. A shuffle buffer of n records shows n - 1
//
// Time n log n, memory 4 bytes per item beside the order itself.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace dyetrace::analysis {

struct Permutation {
    std::uint64_t items = 0;
    std::uint64_t pairs = 0;
    std::uint64_t inversions = 0;
    double variance = 0;  // of the inversions, if the order were random
    std::uint64_t same_place = 0;
    std::uint64_t blocks = 0;
    std::uint64_t lookahead = 0;

    double distance() const;
    double same_place_share() const;
    double block_items() const;  // mean

    // Several orders, each by itself: the records of each of many files.
    Permutation& operator+=(const Permutation& other);
};

// `order` has each of 0 … n - 1 once; at most 2^32 of them.
Permutation measure(std::span<const std::uint32_t> order);

enum class Order : std::uint8_t {
    kNoOrder,  // fewer than two items
    kSame,
    kNearlySame,  // few items moved
    kReversed,
    kRotated,         // the same, begun elsewhere
    kBlockShuffled,   // stretches stayed together
    kNearbyShuffled,  // nothing came far too early: a shuffle buffer
    kShuffled,        // as far as a random order is
    kOther,           // or too few items to tell
};
std::string_view name_of(Order order);
Order order_of(const Permutation& permutation);

}  // namespace dyetrace::analysis
