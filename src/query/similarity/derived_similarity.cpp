#include "query/similarity/derived_similarity.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/similarity/clusters.h"
#include "analysis/similarity/resemblance.h"
#include "base/log.h"
#include "query/similarity/item_reader.h"

namespace dyetrace::query {
namespace {

// Raised whenever the rules give other rows for the same events.
constexpr std::uint32_t kSimilarityRulesVersion = 2;
constexpr double kMillion = 1e6;  // shares are numbers of millionths

using Numbers = std::vector<std::uint64_t>;

// What there is of one kind, compared. It does not move: the index looks at the contents.
struct Comparison {
    Comparison(schema::ItemKind of, analysis::Contents found)
        : kind(of), contents(std::move(found)), index(contents), resemblances(index) {}

    schema::ItemKind kind;
    analysis::Contents contents;
    analysis::SimilarityIndex index;
    analysis::Resemblances resemblances;
};

Result<std::unique_ptr<Comparison>> compare(store::Database& database, schema::ItemKind kind) {
    analysis::Items items;
    TRY(read_items(database, kind, 0, items));
    auto compared = std::make_unique<Comparison>(kind, std::move(items).finish());
    if (compared->index.common_prints() > 0) {
        base::Log::to_stderr().warn(fmt::format(
            "similarities: {} anchors or windows are in more than {} different contents; they "
            "lead only to the largest of them",
            compared->index.common_prints(),
            analysis::SimilarityIndex::kSharersMax));
    }
    return compared;
}

void append_share(const analysis::Share& share, Numbers& numbers) {
    for (const double value : {share.estimate, share.low, share.high}) {
        numbers.push_back(static_cast<std::uint64_t>(std::lround(value * kMillion)));
    }
}

void append_row(schema::ItemKind kind, const analysis::Resemblance& one, Numbers& numbers) {
    numbers.insert(numbers.end(), {static_cast<std::uint64_t>(kind), one.a->id, one.b->id});
    append_share(one.jaccard, numbers);
    append_share(one.a_in_b, numbers);
    append_share(one.b_in_a, numbers);
    numbers.insert(numbers.end(),
                   {std::uint64_t{one.equal},
                    one.shared_bytes,
                    one.compared.shared,
                    one.compared.of_a,
                    one.compared.of_b});
}

// Adds rows; false: there are no more.
bool next_similarities(Comparison& compared, Numbers& numbers) {
    std::vector<analysis::Resemblance> found;
    while (found.empty()) {
        if (!compared.resemblances.next(found)) {
            return false;
        }
    }
    for (const analysis::Resemblance& one : found) {
        append_row(compared.kind, one, numbers);
    }
    return true;
}

// All at once.
void append_clusters(Comparison& compared, Numbers& numbers) {
    const auto clusters = analysis::clusters_of(compared.index);
    for (std::uint32_t content = 0; content < clusters.size(); ++content) {
        const analysis::Cluster& cluster = clusters[content];
        if (cluster.id == 0) {
            continue;
        }
        for (const std::uint32_t member : compared.contents.members(content)) {
            numbers.insert(numbers.end(),
                           {cluster.id,
                            static_cast<std::uint64_t>(compared.kind),
                            compared.contents.items()[member].id,
                            compared.contents.first(cluster.leader).id});
        }
    }
}

// Events, then objects.
class Rows {
  public:
    Rows(store::Database& database, bool are_clusters)
        : database_(&database), are_clusters_(are_clusters) {}

    Result<void> next(Numbers& numbers) {
        while (numbers.empty() && (compared_ || next_kind_ < std::size(kKinds))) {
            if (!compared_) {
                TRY(compared_, compare(*database_, kKinds[next_kind_++]));
                if (are_clusters_) {
                    append_clusters(*compared_, numbers);
                    compared_ = nullptr;
                }
            } else if (!next_similarities(*compared_, numbers)) {
                compared_ = nullptr;
            }
        }
        return {};
    }

  private:
    static constexpr schema::ItemKind kKinds[] = {schema::ItemKind::kEvent,
                                                  schema::ItemKind::kObject};

    store::Database* database_;
    bool are_clusters_;
    std::size_t next_kind_ = 0;
    std::unique_ptr<Comparison> compared_;
};

store::TableDerivation derivation(const char* name, bool are_clusters) {
    return {name,
            kSimilarityRulesVersion,
            [are_clusters](store::Database& asked) -> Result<store::RowSource> {
                const auto rows = std::make_shared<Rows>(asked, are_clusters);
                return store::RowSource(
                    [rows](std::vector<std::uint64_t>& numbers) { return rows->next(numbers); });
            }};
}

}  // namespace

void offer_similarities(store::Database& database) {
    database.register_table(derivation("similarities", false));
    database.register_table(derivation("clusters", true));
}

}  // namespace dyetrace::query
