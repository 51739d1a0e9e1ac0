#include "analysis/similarity/clusters.h"

#include <numeric>
#include <tuple>
#include <unordered_set>

namespace dyetrace::analysis {
namespace {

class Clustering {
  public:
    explicit Clustering(SimilarityIndex& index)
        : index_(&index), clusters_(index.contents().size()) {}

    std::vector<Cluster> run() && {
        for (std::uint32_t content = 0; content < clusters_.size(); ++content) {
            clusters_[content] = cluster_of(content);
        }
        return std::move(clusters_);
    }

  private:
    Cluster cluster_of(std::uint32_t content) {
        const auto anchors = index_->contents().anchors(content);
        if (anchors.size() < kAnchorsTelling) {
            const auto& fingerprint = index_->contents().first(content).fingerprint;
            return {fingerprint.value_or(0), content};
        }
        const std::uint32_t leader = nearest_leader(content, anchors.size());
        return leader == content ? Cluster{new_id(anchors), content} : clusters_[leader];
    }

    std::uint32_t nearest_leader(std::uint32_t content, std::size_t anchors) {
        std::uint32_t best = content;
        double best_jaccard = 0;
        for (const Shared& one : index_->sharing(content)) {
            const bool is_leader =
                one.content < content && clusters_[one.content].leader == one.content;
            const std::size_t either =
                anchors + index_->contents().anchors(one.content).size() - one.anchors;
            const double jaccard = one.anchors / static_cast<double>(either);
            if (is_leader && one.anchors >= kAnchorsTelling && jaccard >= kClusterJaccard &&
                std::tie(best_jaccard, one.content) < std::tie(jaccard, best)) {
                best = one.content;
                best_jaccard = jaccard;
            }
        }
        return best;
    }

    std::uint64_t new_id(std::span<const std::uint64_t> anchors) {
        for (const std::uint64_t anchor : anchors) {
            if (taken_.insert(anchor).second) {
                return anchor;
            }
        }
        return std::accumulate(anchors.begin(), anchors.end(), std::uint64_t{0});
    }

    SimilarityIndex* index_;
    std::vector<Cluster> clusters_;
    std::unordered_set<std::uint64_t> taken_;
};

}  // namespace

std::vector<Cluster> clusters_of(SimilarityIndex& index) {
    return Clustering(index).run();
}

}  // namespace dyetrace::analysis
