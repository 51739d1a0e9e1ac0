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

Resemblances::Resemblances(SimilarityIndex& index, const PairLimits& limits)
    : index_(&index), limits_(limits), bars_(index.contents().size()) {}

bool Resemblances::next(std::vector<Resemblance>& found) {
    if (content_ == index_->contents().size()) {
        return false;
    }
    add_copies(found);
    rank_others();
    add_pairs(found);
    ++content_;
    return true;
}

void Resemblances::add_copies(std::vector<Resemblance>& found) const {
    const Contents& contents = index_->contents();
    const std::size_t anchors = contents.anchors(content_).size();
    for (const std::uint32_t member : contents.members(content_).subspan(1)) {
        found.push_back(resemblance_of(
            contents.first(content_), contents.things()[member], anchors, anchors, anchors));
    }
}

// The later one of a pair tells it: whether it is among the best of the earlier one is known by then.
void Resemblances::add_pairs(std::vector<Resemblance>& found) {
    for (std::size_t i = 0; i < others_.size(); ++i) {
        const Other& other = others_[i];
        const bool is_best = i < limits_.others_max || other.jaccard > bars_[other.content];
        if (other.content < content_ && is_best) {
            found.push_back(
                resemblance_of(index_->contents(), other.content, content_, other.shared));
        }
    }
    if (others_.size() > limits_.others_max) {
        bars_[content_] = others_[limits_.others_max - 1].jaccard;
    }
}

void Resemblances::rank_others() {
    others_.clear();
    const std::size_t own = index_->contents().anchors(content_).size();
    for (const Shared& one : index_->sharing(content_)) {
        const std::size_t its = index_->contents().anchors(one.content).size();
        if (one.anchors >= limits_.share_min * static_cast<double>(std::min(own, its))) {
            const auto either = static_cast<double>(own + its - one.anchors);
            others_.push_back({one.content, one.anchors, one.anchors / either});
        }
    }
    std::sort(others_.begin(), others_.end(), [](const Other& a, const Other& b) {
        return std::tie(b.jaccard, a.content) < std::tie(a.jaccard, b.content);
    });
}

}  // namespace dyetrace::analysis
