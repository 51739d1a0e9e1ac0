// Which contents have anchors, or windows of sketches, in common: an index from each of them to the contents that have it.
//
//   SimilarityIndex index(contents);
//   for (const Shared& one : index.sharing(3)) …        one.content has one.prints of those of content 3
//
// What is counted is what both are compared by (Contents::compared): windows if both have sketches, else anchors. A window that both
// have is in the sketch of either, so it is also in one of the coarser distance.
//
// Exact, and of linear size: no pair is looked at that shares nothing. An anchor or window that more than `sharers_max` contents have (the head
// of a file format, a licence) leads only to the first ones of them, which are the largest; it counts in every pair that is
// found. Work: at most anchors times sharers_max, and as much again where many are so common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/similarity/items.h"

namespace dyetrace::analysis {

struct Shared {
    std::uint32_t content = 0;
    std::uint32_t prints = 0;
};

class SimilarityIndex {
  public:
    static constexpr std::size_t kSharersMax = 256;  // 50 million prints then take half a minute

    // `contents` must outlive it.
    explicit SimilarityIndex(const Contents& contents, std::size_t sharers_max = kSharersMax);

    // The result has no order and is valid until the next call.
    std::span<const Shared> sharing(std::uint32_t content);

    const Contents& contents() const { return *contents_; }
    // Anchors and windows that lead to a part of those that have them.
    std::uint64_t common_prints() const { return common_prints_; }

  private:
    // What a content has in common: windows in the upper half, anchors in the lower one.
    using Counts = std::uint64_t;

    // Prints are known by their rank among all different ones; windows come first.
    void list_sharers();
    std::span<const std::uint32_t> ranks(std::uint32_t content) const;
    std::span<const std::uint32_t> sharers(std::uint32_t rank) const;
    bool is_common(std::uint32_t rank) const { return sharers(rank).size() > sharers_max_; }
    Counts one_of(std::uint32_t rank) const {
        return rank < anchors_begin_ ? Counts{1} << 32 : Counts{1};
    }
    void touch(std::uint32_t content, Counts counts);
    Counts common_with(std::uint32_t content) const;

    const Contents* contents_;
    std::size_t sharers_max_;
    std::uint64_t common_prints_ = 0;
    std::uint32_t anchors_begin_ = 0;  // rank
    std::vector<std::uint32_t> ranks_;
    std::vector<std::size_t> rank_begins_;  // in ranks_, by content
    std::vector<std::uint32_t> sharers_;
    std::vector<std::size_t> sharer_begins_;          // in sharers_, by rank
    std::vector<std::vector<std::uint32_t>> common_;  // ranks of common prints, by content
    std::vector<Counts> counts_;                      // by content; of the one that is asked about
    std::vector<Shared> found_;
    std::vector<bool> has_common_;  // by rank; of the one that is asked about
};

}  // namespace dyetrace::analysis
