#include "analysis/similarity/resemblance.h"

#include <algorithm>
#include <tuple>
#include <vector>

namespace dyetrace::analysis {
namespace {

constexpr Share kWhole{1, 1, 1};

// Those of `a` that it shares: its bytes lie as far from each other as its anchors do, or as the windows of sketches on average.
std::uint64_t shared_bytes(const Item& a, const Compared& compared) {
    if (compared.distance != 0) {
        return compared.shared * compared.distance;
    }
    return a.anchors == 0 ? a.content_bytes
                          : static_cast<std::uint64_t>(static_cast<double>(a.bytes) /
                                                       static_cast<double>(a.anchors) *
                                                       static_cast<double>(compared.shared));
}

}  // namespace

Resemblance resemblance_of(const Item& a, const Item& b, const Compared& compared) {
    Resemblance result{.a = &a,
                       .b = &b,
                       .equal = are_equal(a, b),
                       .compared = compared,
                       .jaccard = share_of(compared.shared, compared.either()),
                       .a_in_b = share_of(compared.shared, compared.of_a),
                       .b_in_a = share_of(compared.shared, compared.of_b),
                       .shared_bytes = shared_bytes(a, compared)};
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
    return resemblance_of(contents.first(a), contents.first(b), contents.compared(a, b, shared));
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
    const Compared same = contents.compared(content_);
    for (const std::uint32_t member : contents.members(content_).subspan(1)) {
        found.push_back(resemblance_of(contents.first(content_), contents.items()[member], same));
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
    for (const Shared& one : index_->sharing(content_)) {
        const Compared compared = index_->contents().compared(content_, one.content, one.prints);
        const auto smaller = static_cast<double>(std::min(compared.of_a, compared.of_b));
        if (one.prints >= limits_.share_min * smaller) {
            others_.push_back({one.content, one.prints, compared.jaccard()});
        }
    }
    std::sort(others_.begin(), others_.end(), [](const Other& a, const Other& b) {
        return std::tie(b.jaccard, a.content) < std::tie(a.jaccard, b.content);
    });
}

}  // namespace dyetrace::analysis
