#include "analysis/similarity/similarity_index.h"

#include <algorithm>
#include <utility>

namespace dyetrace::analysis {

SimilarityIndex::SimilarityIndex(const Contents& contents, std::size_t sharers_max)
    : contents_(&contents), sharers_max_(sharers_max), counts_(contents.size()) {
    list_sharers();
    common_.resize(contents.size());
    has_common_.resize(sharer_begins_.size() - 1);
    for (std::uint32_t rank = 0; rank + 1 < sharer_begins_.size(); ++rank) {
        if (!is_common(rank)) {
            continue;
        }
        ++common_prints_;
        for (const std::uint32_t content : sharers(rank)) {
            common_[content].push_back(rank);
        }
    }
}

// Sorted by fingerprint and content they are the lists of those that share a print, and meet each content's prints in order.
void SimilarityIndex::list_sharers() {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> placed;
    rank_begins_.push_back(0);
    for (std::uint32_t content = 0; content < contents_->size(); ++content) {
        for (const std::uint64_t print : contents_->prints(content)) {
            placed.emplace_back(print, content);
        }
        rank_begins_.push_back(placed.size());
    }
    std::sort(placed.begin(), placed.end());
    ranks_.resize(placed.size());
    sharers_.reserve(placed.size());
    std::vector<std::size_t> next(rank_begins_.begin(), rank_begins_.end() - 1);
    for (std::size_t i = 0; i < placed.size(); ++i) {
        if (i == 0 || placed[i].first != placed[i - 1].first) {
            anchors_begin_ += placed[i].first <= UINT32_MAX;
            sharer_begins_.push_back(i);
        }
        ranks_[next[placed[i].second]++] = static_cast<std::uint32_t>(sharer_begins_.size() - 1);
        sharers_.push_back(placed[i].second);
    }
    sharer_begins_.push_back(placed.size());
}

std::span<const std::uint32_t> SimilarityIndex::ranks(std::uint32_t content) const {
    return std::span(ranks_).subspan(rank_begins_[content],
                                     rank_begins_[content + 1u] - rank_begins_[content]);
}

std::span<const std::uint32_t> SimilarityIndex::sharers(std::uint32_t rank) const {
    return std::span(sharers_).subspan(sharer_begins_[rank],
                                       sharer_begins_[rank + 1u] - sharer_begins_[rank]);
}

void SimilarityIndex::touch(std::uint32_t content, Counts counts) {
    if (counts_[content] == 0) {
        found_.push_back({content, 0});
        counts_[content] = 1;  // it is listed; taken off in sharing()
    }
    counts_[content] += counts;
}

SimilarityIndex::Counts SimilarityIndex::common_with(std::uint32_t content) const {
    Counts counts = 0;
    for (const std::uint32_t rank : common_[content]) {
        counts += has_common_[rank] ? one_of(rank) : 0;
    }
    return counts;
}

std::span<const Shared> SimilarityIndex::sharing(std::uint32_t content) {
    found_.clear();
    for (const std::uint32_t rank : ranks(content)) {
        const auto all = sharers(rank);
        const Counts counts = is_common(rank) ? 0 : one_of(rank);
        for (const std::uint32_t other : all.first(std::min(all.size(), sharers_max_))) {
            if (other != content) {
                touch(other, counts);
            }
        }
    }
    for (const std::uint32_t rank : common_[content]) {
        has_common_[rank] = true;
    }
    for (Shared& one : found_) {
        const Counts counts = std::exchange(counts_[one.content], 0) - 1 + common_with(one.content);
        const bool by_sketch = contents_->has_sketch(content) && contents_->has_sketch(one.content);
        one.prints = static_cast<std::uint32_t>(by_sketch ? counts >> 32 : counts);
    }
    for (const std::uint32_t rank : common_[content]) {
        has_common_[rank] = false;
    }
    std::erase_if(found_, [](const Shared& one) { return one.prints == 0; });
    return found_;
}

}  // namespace dyetrace::analysis
