#include "analysis/pattern/permutation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace dyetrace::analysis {
namespace {

constexpr std::uint64_t kNamedMin = 16;  // items; with fewer, chance makes blocks and short ways
constexpr double kNearDistance = 0.05;   // what a few moved items make
constexpr double kBlockItemsMin = 1.5;   // mean; a random order has 1.0
constexpr double kNearbyShare = 0.25;  // of all places; a shuffle buffer larger than that shuffles
constexpr double kDeviationsMax = 3;   // of a random order: 99.7 % of them are nearer to 0.5

constexpr std::array<std::string_view, 9> kOrderNames = {"unknown",
                                                         "same",
                                                         "nearly_same",
                                                         "reversed",
                                                         "rotated",
                                                         "block_shuffled",
                                                         "nearby_shuffled",
                                                         "shuffled",
                                                         "other"};

// Merge sort from the bottom; what overtakes something larger that stood before it is an inversion for each of these.
std::uint64_t count_inversions(std::span<const std::uint32_t> order) {
    std::vector<std::uint32_t> sorted(order.begin(), order.end()), merged(order.size());
    std::uint64_t inversions = 0;
    const std::size_t n = order.size();
    for (std::size_t width = 1; width < n; width *= 2) {
        for (std::size_t begin = 0; begin < n; begin += 2 * width) {
            const std::size_t middle = std::min(begin + width, n);
            const std::size_t end = std::min(begin + 2 * width, n);
            std::size_t left = begin, right = middle, out = begin;
            while (left < middle && right < end) {
                const bool overtakes = sorted[right] < sorted[left];
                inversions += overtakes ? middle - left : 0;
                merged[out++] = overtakes ? sorted[right++] : sorted[left++];
            }
            std::copy(sorted.begin() + static_cast<std::ptrdiff_t>(left),
                      sorted.begin() + static_cast<std::ptrdiff_t>(middle),
                      merged.begin() + static_cast<std::ptrdiff_t>(out));
            std::copy(sorted.begin() + static_cast<std::ptrdiff_t>(right),
                      sorted.begin() + static_cast<std::ptrdiff_t>(end),
                      merged.begin() + static_cast<std::ptrdiff_t>(out + middle - left));
        }
        sorted.swap(merged);
    }
    return inversions;
}

double share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

bool is_as_random(const Permutation& p) {
    const double expected = static_cast<double>(p.pairs) / 2;
    return std::abs(static_cast<double>(p.inversions) - expected) <=
           kDeviationsMax * std::sqrt(p.variance);
}

}  // namespace

double Permutation::distance() const {
    return share(inversions, pairs);
}
double Permutation::same_place_share() const {
    return share(same_place, items);
}
double Permutation::block_items() const {
    return share(items, blocks);
}

Permutation& Permutation::operator+=(const Permutation& other) {
    items += other.items;
    pairs += other.pairs;
    inversions += other.inversions;
    variance += other.variance;
    same_place += other.same_place;
    blocks += other.blocks;
    lookahead = std::max(lookahead, other.lookahead);
    return *this;
}

Permutation measure(std::span<const std::uint32_t> order) {
    Permutation out;
    const auto n = static_cast<double>(order.size());
    out.items = order.size();
    out.pairs = order.empty() ? 0 : out.items * (out.items - 1) / 2;
    out.inversions = count_inversions(order);
    out.variance = n * (n - 1) * (2 * n + 5) / 72;
    for (std::size_t i = 0; i < order.size(); ++i) {
        out.same_place += order[i] == i ? 1 : 0;
        out.blocks += i == 0 || order[i] != order[i - 1] + 1 ? 1 : 0;
        out.lookahead = std::max<std::uint64_t>(out.lookahead, order[i] > i ? order[i] - i : 0);
    }
    return out;
}

std::string_view name_of(Order order) {
    return kOrderNames[static_cast<std::size_t>(order)];
}

Order order_of(const Permutation& p) {
    if (p.pairs == 0) {
        return Order::kNoOrder;
    }
    if (p.inversions == 0 || p.inversions == p.pairs) {
        return p.inversions == 0 ? Order::kSame : Order::kReversed;
    }
    if (p.items >= kNamedMin && p.block_items() >= kBlockItemsMin) {
        return p.blocks == 2                  ? Order::kRotated
               : p.distance() < kNearDistance ? Order::kNearlySame
                                              : Order::kBlockShuffled;
    }
    if (p.items >= kNamedMin && p.distance() < kNearbyShare &&
        static_cast<double>(p.lookahead) < kNearbyShare * static_cast<double>(p.items)) {
        return Order::kNearbyShuffled;
    }
    return p.items >= kNamedMin && is_as_random(p) ? Order::kShuffled : Order::kOther;
}

}  // namespace dyetrace::analysis
