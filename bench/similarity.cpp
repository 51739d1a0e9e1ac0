// How well similarity is told from anchors and sketches, beside MinHash and LSH as CaT uses them.
//
//   bench_similarity [--pairs N] FILE…
//
// Pairs of pieces of the files are made with a known similarity, in six ways; the truth is the Jaccard coefficient of all their different
// windows of 32 bytes. The bench says for each size and similarity how many pairs are found, and
// how far the estimate is from the truth. For CaT the truth is that of its own shingles of 5 bytes,
// once of the first 4,096 bytes as it uses them, once of all.
//
// CaT (CatBpf, CaSolver): 10 hashes, values cut to 16 bits, candidates by 3 bands of 3, Sorensen-Dice of the signatures as similarity.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <unordered_set>
#include <vector>

#include "analysis/similarity/resemblance.h"
#include "analysis/similarity/share.h"
#include "base/file.h"
#include "content/anchors.h"
#include "content/fingerprint.h"

namespace {

using dyetrace::analysis::Compared;
using dyetrace::analysis::Contents;
using dyetrace::analysis::Items;
using dyetrace::analysis::Resemblance;
using dyetrace::analysis::Resemblances;
using dyetrace::analysis::Share;
using dyetrace::analysis::share_of;
using dyetrace::analysis::SimilarityIndex;
using dyetrace::content::AnchorRule;
using Random = std::mt19937_64;

constexpr std::size_t kWindow = ANCHOR_WINDOW;
constexpr std::size_t kShingle = 5;
constexpr std::size_t kCatBytes = 4096;

std::uint64_t hash_of(std::string_view bytes) {
    return dyetrace::content::fingerprint(dyetrace::base::bytes_of(bytes), std::nullopt);
}

std::vector<std::uint64_t> set_of_pieces(std::string_view bytes, std::size_t size) {
    std::vector<std::uint64_t> set;
    for (std::size_t i = 0; i + size <= bytes.size(); ++i) {
        set.push_back(hash_of(bytes.substr(i, size)));
    }
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
    return set;
}

std::size_t common(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
    std::vector<std::uint64_t> both;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    return both.size();
}

double jaccard(std::string_view a, std::string_view b, std::size_t size) {
    const auto in_a = set_of_pieces(a, size), in_b = set_of_pieces(b, size);
    const std::size_t both = common(in_a, in_b);
    return static_cast<double>(both) /
           static_cast<double>(std::max<std::size_t>(in_a.size() + in_b.size() - both, 1));
}

// What CaT does.
class CatSignature {
  public:
    static constexpr std::size_t kHashes = 10, kRows = 3, kBands = 3;

    explicit CatSignature(std::string_view bytes) {
        values_.fill(UINT64_MAX);
        for (std::size_t i = 0; i + kShingle <= bytes.size(); ++i) {
            const std::uint64_t first = hash_of(bytes.substr(i, kShingle));
            const std::uint64_t second = (first ^ (first >> 32)) * 0x9e3779b97f4a7c15u | 1;
            for (std::size_t hash = 0; hash < kHashes; ++hash) {
                values_[hash] = std::min(values_[hash], mixed(first + hash * second));
            }
        }
    }

    bool is_candidate_of(const CatSignature& other) const {
        for (std::size_t band = 0; band < kBands; ++band) {
            bool same = true;
            for (std::size_t row = 0; row < kRows; ++row) {
                const std::size_t i = band * kRows + row;
                same = same && (values_[i] & 0xffff) == (other.values_[i] & 0xffff);
            }
            if (same) {
                return true;
            }
        }
        return false;
    }

    double dice_with(const CatSignature& other) const {
        const std::unordered_set<std::uint64_t> a(values_.begin(), values_.end());
        const std::unordered_set<std::uint64_t> b(other.values_.begin(), other.values_.end());
        const auto both =
            std::count_if(a.begin(), a.end(), [&](std::uint64_t one) { return b.contains(one); });
        return 2.0 * static_cast<double>(both) / static_cast<double>(a.size() + b.size());
    }

  private:
    static std::uint64_t mixed(std::uint64_t value) {
        value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
        value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
        return value ^ (value >> 31);
    }
    std::array<std::uint64_t, kHashes> values_{};
};

// What `dyetrace similar` estimates when it compares two events that moved these bytes.
struct Estimate {
    Share share;
    bool is_found = false;
    std::uint64_t either = 0;
};

std::uint32_t add_item(Items& items, std::string_view text, const AnchorRule& rule) {
    const auto bytes = dyetrace::base::bytes_of(text);
    const auto item = items.add({.id = items.size(),
                                 .bytes = bytes.size(),
                                 .fingerprint = hash_of(text),
                                 .content_bytes = bytes.size()});
    for (const auto& anchor : rule.find(bytes)) {
        items.add_anchor(item, anchor.fingerprint);
    }
    if (const auto sketch = rule.sketch(bytes)) {
        for (const std::uint32_t window : sketch->windows) {
            items.add_window(item, sketch->distance, window);
        }
    }
    return item;
}

Estimate estimate_of(std::string_view a, std::string_view b, const AnchorRule& rule) {
    Items items;
    add_item(items, a, rule);
    add_item(items, b, rule);
    const Contents contents = std::move(items).finish();
    SimilarityIndex index(contents);
    Resemblances resemblances(index);
    std::vector<Resemblance> found;
    while (resemblances.next(found)) {
    }
    if (!found.empty()) {
        return {found[0].jaccard, true, found[0].equal ? 0 : found[0].compared.either()};
    }
    if (contents.size() < 2) {
        return {};  // of one of them nothing is known
    }
    const Compared nothing = contents.compared(0, 1, 0);
    return {share_of(0, nothing.either()), false, nothing.either()};
}

// Bytes of the files, some of which no piece of the same pair had before.
class Source {
  public:
    Source(std::string bytes, Random& random) : bytes_(std::move(bytes)), random_(&random) {}
    void begin() { next_ = (*random_)() % bytes_.size(); }
    std::string take(std::size_t size) {
        std::string taken;
        while (taken.size() < size) {
            const std::size_t count = std::min(size - taken.size(), bytes_.size() - next_);
            taken += bytes_.substr(next_, count);
            next_ = (next_ + count) % bytes_.size();
        }
        return taken;
    }
    std::size_t size() const { return bytes_.size(); }

  private:
    std::string bytes_;
    Random* random_;
    std::size_t next_ = 0;
};

using Pair = std::pair<std::string, std::string>;
using Way = std::function<Pair(Source&, std::size_t size, double similarity, Random&)>;

// What two items of one size have to have in common.
std::size_t shared_part(std::size_t size, double similarity) {
    return static_cast<std::size_t>(static_cast<double>(size) * 2 * similarity / (1 + similarity));
}

constexpr std::size_t kBlocks = 16;

std::vector<std::string> blocks_replaced(const std::string& a,
                                         Source& source,
                                         double similarity,
                                         Random& random) {
    const std::size_t block = a.size() / kBlocks;
    std::vector<std::size_t> order(kBlocks);
    for (std::size_t i = 0; i < kBlocks; ++i) {
        order[i] = i;
    }
    std::shuffle(order.begin(), order.end(), random);
    std::size_t left = a.size() - shared_part(a.size(), similarity);
    std::vector<std::string> blocks;
    for (std::size_t i = 0; i < kBlocks; ++i) {
        blocks.push_back(a.substr(i * block, block));
    }
    for (const std::size_t i : order) {
        const std::size_t count = std::min(left, block);
        blocks[i] = source.take(count) + blocks[i].substr(count);
        left -= count;
    }
    return blocks;
}

std::string joined(const std::vector<std::string>& parts) {
    std::string all;
    for (const std::string& part : parts) {
        all += part;
    }
    return all;
}

Pair replaced(Source& source, std::size_t size, double similarity, Random& random) {
    const std::string a = source.take(size);
    return {a, joined(blocks_replaced(a, source, similarity, random))};
}

Pair shuffled(Source& source, std::size_t size, double similarity, Random& random) {
    const std::string a = source.take(size);
    auto blocks = blocks_replaced(a, source, similarity, random);
    std::shuffle(blocks.begin(), blocks.end(), random);
    return {a, joined(blocks)};
}

Pair inserted(Source& source, std::size_t size, double similarity, Random&) {
    const std::string a = source.take(size);
    const auto more =
        static_cast<std::size_t>(static_cast<double>(size) * (1 / similarity - 1)) / kBlocks;
    std::string b;
    for (std::size_t i = 0; i < kBlocks; ++i) {
        b += source.take(more) + a.substr(i * size / kBlocks, size / kBlocks);
    }
    return {a, b};
}

Pair other_beginning(Source& source, std::size_t size, double similarity, Random&) {
    const std::string a = source.take(size);
    const std::size_t same = shared_part(size, similarity);
    return {a, source.take(size - same) + a.substr(size - same)};
}

Pair shifted(Source& source, std::size_t size, double similarity, Random&) {
    const std::size_t same = shared_part(size, similarity);
    const std::string both = source.take(2 * size - same);
    return {both.substr(0, size), both.substr(size - same)};
}

Pair appended(Source& source, std::size_t size, double similarity, Random&) {
    const std::string a = source.take(size);
    const auto all = static_cast<std::size_t>(static_cast<double>(size) / similarity);
    return {a, a + source.take(all - size)};
}

const std::vector<std::pair<const char*, Way>> kWays = {{"blocks replaced", replaced},
                                                        {"blocks replaced, shuffled", shuffled},
                                                        {"bytes inserted", inserted},
                                                        {"another beginning", other_beginning},
                                                        {"cut elsewhere", shifted},
                                                        {"appended to", appended}};

// Sums up the pairs of one line.
struct Line {
    std::size_t pairs = 0;
    double truth = 0, cat_truth = 0;
    struct Method {
        std::size_t found = 0;
        double error = 0, shown_error = 0;
    } ours, cat, cat_whole;
    std::size_t covered = 0, equal = 0;
    double variance = 0, binomial = 0;

    void add(Method& method, bool is_found, double estimate, double truth_of_it) {
        method.found += is_found;
        method.error += std::abs(estimate - truth_of_it);
        method.shown_error += std::abs((is_found ? estimate : 0) - truth_of_it);
    }

    void add(const Pair& pair, const AnchorRule& rule) {
        const std::string_view a = pair.first, b = pair.second;
        const double window_truth = jaccard(a, b, kWindow);
        const double shingle_truth = jaccard(a, b, kShingle);
        ++pairs;
        truth += window_truth;
        cat_truth += shingle_truth;
        const Estimate estimate = estimate_of(a, b, rule);
        const Share& share = estimate.share;
        equal += a == b;
        add(ours, estimate.is_found, share.estimate, window_truth);
        const CatSignature whole_a(a), whole_b(b);
        add(cat_whole, whole_a.is_candidate_of(whole_b), whole_a.dice_with(whole_b), shingle_truth);
        const CatSignature cut_a(a.substr(0, kCatBytes)), cut_b(b.substr(0, kCatBytes));
        add(cat, cut_a.is_candidate_of(cut_b), cut_a.dice_with(cut_b), shingle_truth);
        covered += share.low <= window_truth && window_truth <= share.high;
        if (estimate.either > 0) {
            const auto n = static_cast<double>(estimate.either);
            variance += std::pow(share.estimate - window_truth, 2) * n;
            binomial += window_truth * (1 - window_truth);
        }
    }
};

std::string percent(std::size_t part, std::size_t all) {
    return fmt::format("{:.0f} %", 100.0 * static_cast<double>(part) / static_cast<double>(all));
}

void print(const std::string& name, const Line& line) {
    const auto mean = [&](double sum) { return sum / static_cast<double>(line.pairs); };
    fmt::print(
        "| {} | {:.2f} | {} | {} | {} | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {} | {:.2f} | "
        "{} |\n",
        name,
        mean(line.truth),
        percent(line.ours.found, line.pairs),
        percent(line.cat.found, line.pairs),
        percent(line.cat_whole.found, line.pairs),
        mean(line.ours.shown_error),
        mean(line.cat.shown_error),
        mean(line.cat.error),
        mean(line.cat_whole.shown_error),
        mean(line.cat_whole.error),
        percent(line.covered, line.pairs),
        line.variance / std::max(line.binomial, 1e-9),
        line.equal);
    std::fflush(stdout);
}

constexpr const char* kHead =
    "| | true | found | CaT | CaT, whole | error | CaT | CaT, all compared | CaT, whole "
    "| whole, all compared | in "
    "interval | design effect | equal |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";

struct Sources {
    std::vector<Source> sources;
    Random random{1};
};

// `pairs` of each source and way.
void compare(Sources& contents, std::size_t size, std::uint32_t distance, std::size_t pairs) {
    const AnchorRule rule(distance);
    fmt::print("\n{} bytes, an anchor per {}\n\n{}", size, distance, kHead);
    std::vector<Line> by_way(kWays.size());
    for (int tenth = 0; tenth <= 10; ++tenth) {
        Line line;
        const double similarity = tenth == 0 ? 0 : tenth / 10.0;
        for (std::size_t way = 0; way < kWays.size(); ++way) {
            for (Source& source : contents.sources) {
                for (std::size_t i = 0; i < pairs; ++i) {
                    source.begin();
                    const Pair pair =
                        tenth == 0 ? Pair{source.take(size), source.take(size)}
                                   : kWays[way].second(source, size, similarity, contents.random);
                    line.add(pair, rule);
                    if (tenth == 5) {
                        by_way[way].add(pair, rule);
                    }
                }
            }
        }
        print(fmt::format("{:.1f}", similarity), line);
    }
    for (std::size_t way = 0; way < kWays.size(); ++way) {
        print(kWays[way].first, by_way[way]);
    }
}

}  // namespace

int main(int count, char** words) {
    std::size_t pairs = 40;
    Sources contents;
    for (int i = 1; i < count; ++i) {
        if (std::strcmp(words[i], "--pairs") == 0 && i + 1 < count) {
            pairs = std::stoul(words[++i]);
            continue;
        }
        std::ifstream file(words[i], std::ios::binary);
        std::string bytes(std::istreambuf_iterator<char>(file), {});
        contents.sources.emplace_back(std::move(bytes), contents.random);
        fmt::print("{}: {} bytes\n", words[i], contents.sources.back().size());
    }
    if (contents.sources.empty()) {
        fmt::print(stderr, "bench_similarity: name files of at least some MB\n");
        return 2;
    }
    compare(contents, 4096, 1024, pairs);
    compare(contents, 16'384, 1024, std::max<std::size_t>(pairs / 2, 1));
    compare(contents, 65'536, 1024, std::max<std::size_t>(pairs / 4, 1));
    compare(contents, 1 << 20, 1024, std::max<std::size_t>(pairs / 40, 1));
}
