#include "analysis/similarity/clusters.h"

#include <numeric>
#include <tuple>
#include <unordered_set>
#include <vector>

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
        if (contents().size_of(content) < kAnchorsTelling) {
            return {contents().first(content).fingerprint.value_or(0), content};
        }
        const std::uint32_t leader = nearest_leader(content);
        return leader == content ? Cluster{new_id(content), content} : clusters_[leader];
    }

    std::uint32_t nearest_leader(std::uint32_t content) {
        std::uint32_t best = content;
        double best_jaccard = 0;
        for (const Shared& one : index_->sharing(content)) {
            const bool is_leader =
                one.content < content && clusters_[one.content].leader == one.content;
            const double jaccard = contents().compared(content, one.content, one.prints).jaccard();
            if (is_leader && one.prints >= kAnchorsTelling && jaccard >= kClusterJaccard &&
                std::tie(best_jaccard, one.content) < std::tie(jaccard, best)) {
                best = one.content;
                best_jaccard = jaccard;
            }
        }
        return best;
    }

    std::uint64_t new_id(std::uint32_t content) {
        const std::vector<std::uint64_t> ids = possible_ids(content);
        for (const std::uint64_t id : ids) {
            if (taken_.insert(id).second) {
                return id;
            }
        }
        return std::accumulate(ids.begin(), ids.end(), std::uint64_t{0});
    }

    std::vector<std::uint64_t> possible_ids(std::uint32_t content) const {
        const auto anchors = contents().anchors(content);
        std::vector<std::uint64_t> ids(anchors.begin(), anchors.end());
        const auto sketch = contents().sketch(content);
        for (std::size_t i = 0; anchors.empty() && i + 1 < sketch.size(); ++i) {
            ids.push_back(sketch[i] << 32 | sketch[i + 1]);
        }
        return ids;
    }

    const Contents& contents() const { return index_->contents(); }

    SimilarityIndex* index_;
    std::vector<Cluster> clusters_;
    std::unordered_set<std::uint64_t> taken_;
};

}  // namespace

std::vector<Cluster> clusters_of(SimilarityIndex& index) {
    return Clustering(index).run();
}

}  // namespace dyetrace::analysis
