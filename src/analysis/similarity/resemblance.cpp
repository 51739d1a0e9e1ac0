#include "analysis/similarity/resemblance.h"

#include <algorithm>
#include <tuple>
#include <vector>

namespace dyetrace::analysis {
namespace {

constexpr Share kWhole{1, 1, 1};

// Its bytes lie as far from each other as its anchors do.
std::uint64_t bytes_of(const Thing& thing, std::uint64_t anchors) {
    return thing.windows == 0 ? thing.content_bytes
                              : static_cast<std::uint64_t>(static_cast<double>(thing.bytes) /
                                                           static_cast<double>(thing.windows) *
                                                           static_cast<double>(anchors));
}

class Pairs {
  public:
    Pairs(SimilarityIndex& index, const PairLimits& limits)
        : index_(&index), limits_(limits), bars_(index.contents().size()) {}

    void of(std::uint32_t content, const std::function<void(const Resemblance&)>& take) {
        rank_others(content);
        for (std::size_t i = 0; i < others_.size(); ++i) {
            const Other& other = others_[i];
            const bool is_best = i < limits_.others_max || other.jaccard > bars_[other.content];
            if (other.content < content && is_best) {  // the later one of a pair tells it
                take(resemblance_of(index_->contents(), other.content, content, other.shared));
            }
        }
        if (others_.size() > limits_.others_max) {
            bars_[content] = others_[limits_.others_max - 1].jaccard;
        }
    }

  private:
    struct Other {
        std::uint32_t content, shared;
        double jaccard;
    };

    void rank_others(std::uint32_t content) {
        others_.clear();
        const std::size_t own = index_->contents().anchors(content).size();
        for (const Shared& one : index_->sharing(content)) {
            const std::size_t its = index_->contents().anchors(one.content).size();
            const auto smaller = static_cast<double>(std::min(own, its));
            if (one.anchors >= limits_.share_min * smaller) {
                others_.push_back({one.content,
                                   one.anchors,
                                   one.anchors / static_cast<double>(own + its - one.anchors)});
            }
        }
        std::sort(others_.begin(), others_.end(), [](const Other& a, const Other& b) {
            return std::tie(b.jaccard, a.content) < std::tie(a.jaccard, b.content);
        });
    }

    SimilarityIndex* index_;
    PairLimits limits_;
    std::vector<double> bars_;  // by content: a better one is among its best
    std::vector<Other> others_;
};

}  // namespace

Resemblance resemblance_of(const Thing& a,
                           const Thing& b,
                           std::uint64_t anchors_a,
                           std::uint64_t anchors_b,
                           std::uint64_t shared) {
    Resemblance result{.a = &a,
                       .b = &b,
                       .equal = are_equal(a, b),
                       .anchors_a = anchors_a,
                       .anchors_b = anchors_b,
                       .shared = shared,
                       .jaccard = share_of(shared, anchors_a + anchors_b - shared),
                       .a_in_b = share_of(shared, anchors_a),
                       .b_in_a = share_of(shared, anchors_b),
                       .shared_bytes = bytes_of(a, shared)};
    if (result.equal) {
        result.jaccard = result.a_in_b = result.b_in_a = kWhole;
        result.shared_bytes = a.content_bytes;
    }
    return result;
}

Resemblance resemblance_of(const Contents& contents,
                           std::uint32_t a,
                           std::uint32_t b,
                           std::uint64_t shared) {
    return resemblance_of(contents.first(a),
                          contents.first(b),
                          contents.anchors(a).size(),
                          contents.anchors(b).size(),
                          shared);
}

void each_resemblance(SimilarityIndex& index,
                      const PairLimits& limits,
                      const std::function<void(const Resemblance&)>& take) {
    const Contents& contents = index.contents();
    Pairs pairs(index, limits);
    for (std::uint32_t content = 0; content < contents.size(); ++content) {
        const auto members = contents.members(content);
        const std::size_t anchors = contents.anchors(content).size();
        for (const std::uint32_t member : members.subspan(1)) {
            take(resemblance_of(
                contents.first(content), contents.things()[member], anchors, anchors, anchors));
        }
        pairs.of(content, take);
    }
}

}  // namespace dyetrace::analysis
