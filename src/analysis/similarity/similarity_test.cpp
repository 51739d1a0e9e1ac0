#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "analysis/similarity/clusters.h"
#include "analysis/similarity/resemblance.h"
#include "base/file.h"
#include "content/anchors.h"

namespace dyetrace::analysis {
namespace {

// Anchors of one content: `count` of them from the number `first` on.
struct Piece {
    std::uint64_t id;
    std::uint64_t first, count;
};

std::uint64_t fingerprint_of(std::uint64_t number) {
    return number == 0 ? UINT64_MAX : number * 0x9e3779b97f4a7c15u;  // 0 would be a window
}

void add(Items& items, const Piece& piece, std::uint32_t trace = 0) {
    const auto item = items.add({.id = piece.id, .bytes = piece.count * 1000, .trace = trace});
    for (std::uint64_t i = 0; i < piece.count; ++i) {
        items.add_anchor(item, fingerprint_of(piece.first + i));
    }
}

Contents contents_of(const std::vector<Piece>& pieces) {
    Items items;
    for (const Piece& piece : pieces) {
        add(items, piece);
    }
    return std::move(items).finish();
}

struct Row {
    std::uint64_t a = 0, b = 0, shared = 0;
    bool operator==(const Row&) const = default;
    bool operator<(const Row& other) const { return std::tie(a, b) < std::tie(other.a, other.b); }
};

std::vector<Resemblance> all_of(SimilarityIndex& index, const PairLimits& limits = {}) {
    Resemblances resemblances(index, limits);
    std::vector<Resemblance> found;
    while (resemblances.next(found)) {
    }
    return found;
}

std::vector<Row> rows_of(const Contents& contents,
                         std::size_t sharers_max = SimilarityIndex::kSharersMax,
                         const PairLimits& limits = {}) {
    SimilarityIndex index(contents, sharers_max);
    std::vector<Row> rows;
    for (const Resemblance& one : all_of(index, limits)) {
        rows.push_back(
            {std::min(one.a->id, one.b->id), std::max(one.a->id, one.b->id), one.compared.shared});
    }
    std::sort(rows.begin(), rows.end());
    return rows;
}

// (item, cluster) by item.
std::vector<std::pair<std::uint64_t, std::uint64_t>> clusters_by_item(const Contents& contents) {
    SimilarityIndex index(contents);
    const std::vector<Cluster> clusters = clusters_of(index);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> result;
    for (std::size_t item = 0; item < contents.items().size(); ++item) {
        if (const auto content = contents.of_item(item)) {
            result.emplace_back(contents.items()[item].id, clusters[*content].id);
        }
    }
    std::sort(result.begin(), result.end());
    return result;
}

TEST(Resemblance, says_how_much_two_contents_share_of_either_and_of_both) {
    const Contents contents = contents_of({{1, 0, 80}, {2, 20, 120}});
    SimilarityIndex index(contents);
    const std::vector<Resemblance> found = all_of(index);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].a->id, 2u);  // the larger one
    EXPECT_DOUBLE_EQ(found[0].a_in_b.estimate, 0.5);
    EXPECT_DOUBLE_EQ(found[0].b_in_a.estimate, 0.75);
    EXPECT_DOUBLE_EQ(found[0].jaccard.estimate, 60.0 / 140);
    EXPECT_LT(found[0].jaccard.low, 0.36);
    EXPECT_GT(found[0].jaccard.high, 0.50);
    EXPECT_EQ(found[0].shared_bytes, 60'000u);
    EXPECT_FALSE(found[0].equal);
}

TEST(Resemblance, of_equal_bytes_is_exact_however_few_they_are) {
    Items items;
    items.add({.id = 1, .bytes = 100, .fingerprint = 77, .content_bytes = 100});
    items.add({.id = 2, .bytes = 300, .fingerprint = 77, .content_bytes = 100});  // three times
    items.add({.id = 3, .bytes = 100, .fingerprint = 78, .content_bytes = 100});
    items.add({.id = 4, .bytes = 8, .fingerprint = 79, .content_bytes = 8});  // may be anything
    items.add({.id = 5, .bytes = 8, .fingerprint = 79, .content_bytes = 8});
    const Contents contents = std::move(items).finish();
    EXPECT_EQ(contents.unknown(), 2u);
    SimilarityIndex index(contents);
    const std::vector<Resemblance> found = all_of(index);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].a->id + found[0].b->id, 3u);
    EXPECT_TRUE(found[0].equal);
    EXPECT_EQ(found[0].jaccard.low, 1);
    EXPECT_EQ(found[0].shared_bytes, 100u);
}

TEST(Resemblance, of_a_few_equal_anchors_in_different_bytes_is_no_equality) {
    Items items;
    for (const std::uint64_t id : {1u, 2u}) {
        const auto item =
            items.add({.id = id, .bytes = 1500, .fingerprint = id, .content_bytes = 1500});
        items.add_anchor(item, 5);
    }
    const Contents contents = std::move(items).finish();
    SimilarityIndex index(contents);
    for (const Resemblance& one : all_of(index)) {
        EXPECT_FALSE(one.equal);
        EXPECT_EQ(one.jaccard.estimate, 1);
        EXPECT_LT(one.jaccard.low, 0.1);
    }
    EXPECT_NE(clusters_by_item(contents)[0].second, clusters_by_item(contents)[1].second);
}

TEST(Resemblance, of_copies_is_told_once_each_with_the_first) {
    std::vector<Piece> pieces;
    for (std::uint64_t id = 1; id <= 100; ++id) {
        pieces.push_back({id, 0, 50});
    }
    pieces.push_back({200, 25, 50});
    const std::vector<Row> rows = rows_of(contents_of(pieces));
    ASSERT_EQ(rows.size(), 100u);
    EXPECT_EQ(rows[0], (Row{1, 2, 50}));
    EXPECT_EQ(rows[98], (Row{1, 100, 50}));
    EXPECT_EQ(rows[99], (Row{1, 200, 25}));
}

// All pairs, counted one by one.
TEST(SimilarityIndex, finds_what_comparing_all_pairs_finds) {
    std::mt19937_64 random(3);
    for (int round = 0; round < 20; ++round) {
        std::vector<Piece> pieces;
        for (std::uint64_t id = 1; id <= 40; ++id) {
            pieces.push_back({id, id * 7, 5 + random() % 60});  // no two alike
        }
        std::vector<Row> expected;
        for (const Piece& a : pieces) {
            for (const Piece& b : pieces) {
                const std::uint64_t begin = std::max(a.first, b.first);
                const std::uint64_t end = std::min(a.first + a.count, b.first + b.count);
                const std::uint64_t shared = end > begin ? end - begin : 0;
                if (a.id < b.id && 10 * shared >= std::min(a.count, b.count) && shared > 0) {
                    expected.push_back({a.id, b.id, shared});
                }
            }
        }
        EXPECT_EQ(rows_of(contents_of(pieces)), expected);
        // with anchors that are too common to lead to all: a part of the pairs, of which each is exact
        const std::vector<Row> part = rows_of(contents_of(pieces), 2);
        EXPECT_LT(part.size(), expected.size());
        EXPECT_TRUE(std::includes(expected.begin(), expected.end(), part.begin(), part.end()));
        for (const Row& row : part) {
            EXPECT_NE(std::find(expected.begin(), expected.end(), row), expected.end());
        }
    }
}

TEST(SimilarityIndex, counts_anchors_that_too_many_have_and_still_finds_the_largest) {
    std::vector<Piece> pieces;
    for (std::uint64_t id = 1; id <= 10; ++id) {
        pieces.push_back({id, 0, 10 + id});
    }
    const Contents contents = contents_of(pieces);
    SimilarityIndex index(contents, 4);
    EXPECT_GT(index.common_prints(), 0u);
    EXPECT_EQ(SimilarityIndex(contents).common_prints(), 0u);
    std::vector<std::uint64_t> found;
    for (const Shared& one : index.sharing(9)) {  // the smallest, id 1
        found.push_back(contents.first(one.content).id);
        EXPECT_EQ(one.prints, 11u);
    }
    EXPECT_EQ(found, (std::vector<std::uint64_t>{10, 9, 8, 7}));
}

TEST(SimilarityIndex, keeps_the_best_of_each_content) {
    std::vector<Piece> pieces;
    for (std::uint64_t id = 1; id <= 30; ++id) {
        pieces.push_back({id, id, 100});  // the nearer the numbers, the more they share
    }
    const std::vector<Row> rows =
        rows_of(contents_of(pieces), SimilarityIndex::kSharersMax, {.others_max = 2});
    for (const Row& row : rows) {
        EXPECT_LE(row.b - row.a, 2u);
    }
    EXPECT_EQ(rows.size(), 28u + 3u);  // neighbours, and at the ends the next but one
}

// Windows that are all of one level: 0 to 3, for 64 to 512 bytes.
struct SketchPiece {
    std::uint64_t id;
    std::uint32_t distance, level, first, count;
};

void add_sketches(Items& items, const std::vector<SketchPiece>& pieces) {
    const auto item = items.add({.id = pieces[0].id, .bytes = 4096});
    for (const SketchPiece& piece : pieces) {
        for (std::uint32_t i = 0; i < piece.count; ++i) {
            const std::uint32_t number = (piece.first + i) * 0x1e3779b1u >> 2;
            items.add_window(item, piece.distance, piece.level << 30 | number);
        }
    }
}

TEST(Sketches, are_compared_as_far_as_the_coarser_one_goes) {
    Items items;
    // of 64 and of 256 bytes; a third of what the first has, all of the coarser kind, is in the second
    add_sketches(items,
                 {{1, 64, 0, 0, 20}, {1, 64, 1, 100, 10}, {1, 64, 2, 200, 8}, {1, 64, 3, 300, 7}});
    add_sketches(items, {{2, 256, 2, 200, 16}, {2, 256, 3, 304, 14}});
    const Contents contents = std::move(items).finish();
    SimilarityIndex index(contents);
    const std::vector<Resemblance> found = all_of(index);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].a->id, 1u);  // it has more windows
    EXPECT_EQ(found[0].compared.of_a, 15u);
    EXPECT_EQ(found[0].compared.of_b, 30u);
    EXPECT_EQ(found[0].compared.shared, 8u + 3u);
    EXPECT_EQ(found[0].shared_bytes, 11u * 256);
    EXPECT_DOUBLE_EQ(found[0].jaccard.estimate, 11.0 / 34);
}

TEST(Sketches, of_an_object_are_as_coarse_as_the_coarsest_of_its_operations) {
    Items items;
    add_sketches(items, {{1, 64, 0, 0, 30}, {1, 64, 1, 100, 9}, {1, 128, 1, 500, 5}});
    add_sketches(items, {{2, 64, 0, 0, 30}, {2, 64, 1, 100, 9}});
    const Contents contents = std::move(items).finish();
    EXPECT_EQ(contents.items()[0].sketch_distance, 128u);
    const std::uint32_t object = *contents.of_item(0), event = *contents.of_item(1);
    EXPECT_EQ(contents.sketch(object).size(), 14u);
    EXPECT_EQ(contents.sketch(event).size(), 39u);
    SimilarityIndex index(contents);
    ASSERT_EQ(index.sharing(object).size(), 1u);
    EXPECT_EQ(index.sharing(object)[0].prints, 9u);
    EXPECT_EQ(contents.compared(event, object, 9).of_a, 9u);
}

TEST(Sketches, do_not_count_beside_what_has_none) {
    Items items;
    add_sketches(items, {{1, 64, 0, 0, 60}});
    for (std::uint64_t i = 0; i < 4; ++i) {
        items.add_anchor(0, fingerprint_of(i));
    }
    add(items, Piece{2, 0, 300});  // all of the first one's anchors
    add(items, Piece{3, 1000, 300});
    const Contents contents = std::move(items).finish();
    SimilarityIndex index(contents);
    const std::vector<Resemblance> found = all_of(index);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].compared.shared, 4u);
    EXPECT_EQ(found[0].compared.distance, 0u);
    EXPECT_EQ(found[0].b_in_a.estimate, 1);
    EXPECT_EQ(found[0].a->id, 2u);
}

TEST(Sketches, that_too_many_have_in_common_count_but_lead_to_the_largest_only) {
    Items items;
    for (std::uint32_t id = 1; id <= 10; ++id) {
        add_sketches(items, {{id, 64, 0, 0, 20}, {id, 64, 1, 1000 * id, id}});
    }
    const Contents contents = std::move(items).finish();
    SimilarityIndex index(contents, 4);
    EXPECT_EQ(index.common_prints(), 20u);
    const auto found = index.sharing(*contents.of_item(0));
    ASSERT_EQ(found.size(), 4u);
    for (const Shared& one : found) {
        EXPECT_EQ(one.prints, 20u);
        EXPECT_GT(contents.first(one.content).id, 6u);
    }
}

TEST(Sketches, of_which_there_are_too_many_are_made_coarser) {
    const std::array<std::uint64_t, kSketchLevels> windows = {500, 250, 125, 125};
    EXPECT_EQ(finest_level(windows, 1000), 0u);
    EXPECT_EQ(finest_level(windows, 999), 1u);
    EXPECT_EQ(finest_level(windows, 499), 2u);
    EXPECT_EQ(finest_level(windows, 125), 3u);
    EXPECT_EQ(finest_level(windows, 124), kSketchLevels);
    EXPECT_EQ(finest_level({}, 0), 0u);
}

TEST(Sketches, make_clusters_whose_ids_do_not_depend_on_what_else_there_is) {
    const auto clusters = [](bool has_more) {
        Items items;
        add_sketches(items, {{1, 64, 0, 0, 60}});
        add_sketches(items, {{2, 64, 0, 6, 60}});
        add_sketches(items, {{3, 64, 0, 500, 60}});
        if (has_more) {
            add_sketches(items, {{4, 128, 1, 600, 90}});
            add(items, Piece{5, 0, 100});
        }
        return clusters_by_item(std::move(items).finish());
    };
    const auto few = clusters(false), many = clusters(true);
    EXPECT_EQ(few[0].second, few[1].second);
    EXPECT_NE(few[0].second, few[2].second);
    EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
}

TEST(Clusters, do_not_chain) {
    // each shares most with the next one, the last nothing with the first
    std::vector<Piece> pieces;
    for (std::uint64_t id = 0; id < 10; ++id) {
        pieces.push_back({id, 20 * id, 100});
    }
    const auto clusters = clusters_by_item(contents_of(pieces));
    EXPECT_NE(clusters.front().second, clusters.back().second);
    for (const auto& [a, cluster_a] : clusters) {
        for (const auto& [b, cluster_b] : clusters) {
            EXPECT_TRUE(cluster_a != cluster_b || (a > b ? a - b : b - a) <= 2) << a << " " << b;
        }
    }
}

TEST(Clusters, have_the_same_ids_in_any_order_and_beside_anything_that_shares_nothing) {
    std::mt19937_64 random(5);
    std::vector<Piece> pieces;
    for (std::uint64_t id = 1; id <= 60; ++id) {
        pieces.push_back({id, random() % 2000, 5 + random() % 100});
    }
    const auto clusters = clusters_by_item(contents_of(pieces));
    for (int round = 0; round < 10; ++round) {
        std::vector<Piece> others = pieces;
        for (std::uint64_t id = 100; id < 200; ++id) {
            others.push_back({id, 10'000 + random() % 2000, 5 + random() % 300});
        }
        std::shuffle(others.begin(), others.end(), random);
        auto found = clusters_by_item(contents_of(others));
        found.resize(pieces.size());
        EXPECT_EQ(found, clusters);
    }
}

TEST(Clusters, keep_their_id_mostly_when_a_larger_version_takes_the_lead) {
    int kept = 0;
    for (std::uint64_t round = 0; round < 100; ++round) {
        const Piece log{1, 1000 * round, 90}, longer{2, 1000 * round, 100};
        const auto before = clusters_by_item(contents_of({log}));
        const auto after = clusters_by_item(contents_of({log, longer}));
        EXPECT_EQ(after[0].second, after[1].second);
        kept += after[0].second == before[0].second;
    }
    EXPECT_GT(kept, 75);  // 0.9 of 100, and no worse than once in 10^6
    EXPECT_LT(kept, 100);
}

// Lines of a log: short, alike, with numbers that grow.
std::string log_text(std::size_t bytes, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const char* const words[] = {"open", "close", "read", "failed", "retry", "socket", "user"};
    std::string text;
    for (std::uint64_t line = 0; text.size() < bytes; ++line) {
        text += "2026-11-22 03:" + std::to_string(10 + line % 50) + " host service[" +
                std::to_string(random() % 100) + "]: " + words[random() % 7] + " " +
                words[random() % 7] + " id=" + std::to_string(random() % 1000) + "\n";
    }
    return text.substr(0, bytes);
}

std::vector<std::uint64_t> windows_of(std::string_view text) {
    std::vector<std::uint64_t> windows;
    for (std::size_t i = 0; i + ANCHOR_WINDOW <= text.size(); ++i) {
        windows.push_back(
            content::fingerprint(base::bytes_of(text.substr(i, ANCHOR_WINDOW)), std::nullopt));
    }
    std::sort(windows.begin(), windows.end());
    windows.erase(std::unique(windows.begin(), windows.end()), windows.end());
    return windows;
}

std::size_t common(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
    std::vector<std::uint64_t> both;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    return both.size();
}

std::vector<std::uint64_t> anchors_of(const content::AnchorRule& rule, std::string_view text) {
    std::vector<std::uint64_t> anchors;
    for (const content::AnchorWindow& one : rule.find(base::bytes_of(text))) {
        anchors.push_back(one.fingerprint);
    }
    std::sort(anchors.begin(), anchors.end());
    anchors.erase(std::unique(anchors.begin(), anchors.end()), anchors.end());
    return anchors;
}

// Another key chooses other anchors: so many samples of the same two texts, whose similarity is known by all their windows.
double covered(const std::string& a, const std::string& b, std::uint64_t keys) {
    const auto in_a = windows_of(a), in_b = windows_of(b);
    const auto both = static_cast<double>(common(in_a, in_b));
    const double truth = both / static_cast<double>(in_a.size() + in_b.size() - common(in_a, in_b));
    std::uint64_t inside = 0;
    for (std::uint64_t key = 1; key <= keys; ++key) {
        const content::AnchorRule rule(ANCHOR_DISTANCE_DEFAULT, content::ContentKey{{key, key}});
        const auto of_a = anchors_of(rule, a), of_b = anchors_of(rule, b);
        const std::size_t shared = common(of_a, of_b);
        const Share share = share_of(shared, of_a.size() + of_b.size() - shared);
        inside += share.low <= truth && truth <= share.high;
    }
    return static_cast<double>(inside) / static_cast<double>(keys);
}

TEST(Share, has_the_truth_in_its_interval_in_95_of_100_samples) {
    constexpr std::uint64_t kKeys = 300;
    constexpr double kLeast = 0.91;  // three standard deviations below 0.95
    for (const std::size_t size : {4096u, 30'000u, 100'000u}) {
        const std::string log = log_text(size, 1), other = log_text(size, 2);
        for (const std::size_t tenth : {1u, 4u, 7u, 9u}) {
            const std::size_t same = size * tenth / 10;
            EXPECT_GE(covered(log, other.substr(same) + log.substr(0, same), kKeys), kLeast)
                << size << " bytes, " << tenth;
        }
        EXPECT_EQ(covered(log, log, 10), 1);
        EXPECT_GE(covered(log, other, kKeys), kLeast);
    }
}

TEST(Share, of_nothing_is_unknown_and_of_little_is_wide) {
    EXPECT_EQ(share_of(0, 0).high - share_of(0, 0).low, 1);
    EXPECT_EQ(share_of(0, 5).low, 0);
    EXPECT_EQ(share_of(5, 5).high, 1);
    EXPECT_GT(share_of(0, 5).high, 0.4);
    EXPECT_LT(share_of(3, 3).low, 0.4);
    EXPECT_LT(share_of(500, 1000).high - share_of(500, 1000).low, 0.08);
}

}  // namespace
}  // namespace dyetrace::analysis
