// Groups of contents that are near-duplicates of one of them, its leader.
//
//   by size      A ▒▒▒▒▒▒▒▒▒▒▒▒   B ▒▒▒▒▒▒▒▒▒▒ (0.8 of A)   C ▒▒▒▒▒▒▒▒ (0.8 of B, 0.4 of A)   D ▒▒▒ (nothing)
//   clusters     {A, B}           {C}            {D}
//
// Contents are taken from the largest to the smallest: each goes to the leader that it resembles most, if that is at least
// kClusterJaccard, and is a leader itself else. So nothing chains: all of a cluster resemble its leader. The id is the smallest
// fingerprint among the leader's anchors that is not the id of a larger leader's cluster (if all are: their sum; without anchors: the
// two smallest windows of its sketch as one number; of a content with fewer than kAnchorsTelling of either: its own fingerprint).
//
// What that guarantees: the same contents have the same clusters and ids, in any order, recording and machine (with the same key);
// a content that has no anchor in common with a cluster's changes neither. A larger content that resembles a leader takes
// its place: the id then stays with a chance that is their Jaccard, for it is the smallest of the fingerprints of both.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/similarity/similarity_index.h"

namespace dyetrace::analysis {

inline constexpr double kClusterJaccard = 0.5;

struct Cluster {
    std::uint64_t id = 0;      // 0: too little is known of it
    std::uint32_t leader = 0;  // content
};

// The index is the content's number.
std::vector<Cluster> clusters_of(SimilarityIndex& index);

}  // namespace dyetrace::analysis
