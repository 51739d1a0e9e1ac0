// How much two contents have in common, and which pairs do.
//
//   a  ▒▒▒▒▒▒▒▒▒▒               8 anchors, of which 6 are in b: a is contained in b to 6/8
//   b      ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒      12 anchors: b is contained in a to 6/12
//                               Jaccard: 6/14 of all that is in either
//
// The truth that is estimated is that of all different windows of 32 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/similarity/items.h"
#include "analysis/similarity/share.h"
#include "analysis/similarity/similarity_index.h"

namespace dyetrace::analysis {

struct Resemblance {
    const Item* a = nullptr;
    const Item* b = nullptr;
    bool equal = false;  // not estimated: all their bytes have one fingerprint
    Compared compared;
    Share jaccard, a_in_b, b_in_a;
    std::uint64_t shared_bytes = 0;  // of a, estimated, repetitions left out
};

Resemblance resemblance_of(const Item& a, const Item& b, const Compared& compared);

// That of the first items of two contents.
Resemblance resemblance_of(const Contents& contents,
                           std::uint32_t a,
                           std::uint32_t b,
                           std::uint64_t shared);

struct PairLimits {
    std::size_t others_max = 64;  // of a content: those that resemble it most
    double share_min = 0.1;       // of the smaller one in the larger one
};

// Every pair of contents that is one of the best of either, once; and of items with one content each with the first of them.
// They come in the same order whenever the contents are the same.
class Resemblances {
  public:
    // `index` must outlive it, and nobody else may ask it meanwhile.
    explicit Resemblances(SimilarityIndex& index, const PairLimits& limits = {});

    // Adds those of the next content, which may be none; false: there is no other one.
    bool next(std::vector<Resemblance>& found);

  private:
    struct Other {
        std::uint32_t content;
        std::uint64_t shared;
        double jaccard;
    };

    void add_copies(std::vector<Resemblance>& found) const;
    void add_pairs(std::vector<Resemblance>& found);
    void rank_others();

    SimilarityIndex* index_;
    PairLimits limits_;
    std::uint32_t content_ = 0;  // the next one
    std::vector<double> bars_;   // by content: a better one is among its best
    std::vector<Other> others_;
};

}  // namespace dyetrace::analysis
