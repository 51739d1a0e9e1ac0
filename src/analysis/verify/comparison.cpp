#include "analysis/verify/comparison.h"

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>

#include "analysis/verify/put_in.h"

namespace dyetrace::analysis {
namespace {

using CutPair = std::pair<std::size_t, std::size_t>;  // indices in the reference and in the copy

// Gives the cuts whose fingerprints are there once.
std::unordered_map<std::uint64_t, std::size_t> unique_cuts(const Strip& strip) {
    constexpr std::size_t kTwice = SIZE_MAX;
    std::unordered_map<std::uint64_t, std::size_t> found;
    for (std::size_t i = 0; i < strip.cuts().size(); ++i) {
        if (const auto& print = strip.cuts()[i].fingerprint) {
            const auto [entry, is_new] = found.emplace(*print, i);
            entry->second = is_new ? i : kTwice;
        }
    }
    std::erase_if(found, [](const auto& entry) { return entry.second == kTwice; });
    return found;
}

// The most of them that are in order in both; they are in order in the reference.
std::vector<CutPair> in_same_order(const std::vector<CutPair>& pairs) {
    std::vector<std::size_t> last_of_length, before(pairs.size(), SIZE_MAX);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const auto at = std::lower_bound(
            last_of_length.begin(),
            last_of_length.end(),
            pairs[i].second,
            [&](std::size_t pair, std::size_t cut) { return pairs[pair].second < cut; });
        if (at != last_of_length.begin()) {
            before[i] = *std::prev(at);
        }
        if (at == last_of_length.end()) {
            last_of_length.push_back(i);
        } else {
            *at = i;
        }
    }
    std::vector<CutPair> kept;
    for (std::size_t i = last_of_length.empty() ? SIZE_MAX : last_of_length.back(); i != SIZE_MAX;
         i = before[i]) {
        kept.push_back(pairs[i]);
    }
    std::reverse(kept.begin(), kept.end());
    return kept;
}

class Matcher {
  public:
    Matcher(const Strip& reference, const Strip& copy) : reference_(reference), copy_(copy) {}

    std::vector<CutPair> pairs() {
        const auto of_reference = unique_cuts(reference_), of_copy = unique_cuts(copy_);
        std::vector<CutPair> candidates;
        for (const auto& [print, cut] : of_reference) {
            if (const auto other = of_copy.find(print); other != of_copy.end()) {
                candidates.emplace_back(cut, other->second);
            }
        }
        std::sort(candidates.begin(), candidates.end());
        add_repeated(in_same_order(candidates));
        return std::move(pairs_);
    }

  private:
    std::uint64_t shift_of(const CutPair& pair) const {  // wraps around where the copy's is smaller
        return copy_.cuts()[pair.second].position - reference_.cuts()[pair.first].position;
    }

    // Those from one pair to the other that lie as far apart in both strips and have the same fingerprint.
    void add_between(CutPair from, const CutPair& to, std::uint64_t shift) {
        while (from.first < to.first && from.second < to.second) {
            const Cut& a = reference_.cuts()[from.first];
            const Cut& b = copy_.cuts()[from.second];
            if (a.position + shift == b.position) {
                if (a.fingerprint && a.fingerprint == b.fingerprint) {
                    pairs_.push_back(from);
                }
                ++from.first;
                ++from.second;
            } else if (static_cast<std::int64_t>(a.position + shift - b.position) < 0) {
                ++from.first;
            } else {
                ++from.second;
            }
        }
    }

    // Fingerprints that come more than once, too, where they stand as the unique ones around them.
    void add_repeated(const std::vector<CutPair>& unique) {
        CutPair from{0, 0};
        std::uint64_t shift =
            unique.empty() ? copy_.begin() - reference_.begin() : shift_of(unique.front());
        for (const CutPair& pair : unique) {
            if (shift_of(pair) == shift) {
                add_between(from, pair, shift);
            }
            pairs_.push_back(pair);
            shift = shift_of(pair);
            from = {pair.first + 1, pair.second + 1};
        }
        add_between(from, {reference_.cuts().size(), copy_.cuts().size()}, shift);
    }

    const Strip& reference_;
    const Strip& copy_;
    std::vector<CutPair> pairs_;
};

class Comparer {
  public:
    Comparer(const Strip& reference, const Strip& copy) : reference_(reference), copy_(copy) {}

    StripComparison result() {
        std::vector<CutPair> pairs = Matcher(reference_, copy_).pairs();
        add_ends(pairs);
        if (pairs.empty()) {
            add_unknown(reference_.begin(), reference_.end(), copy_.begin(), copy_.end());
            return std::move(result_);
        }
        const CutPair last{reference_.cuts().size() - 1, copy_.cuts().size() - 1};
        add_unknown(reference_.begin(),
                    position(pairs.front()),
                    copy_.begin(),
                    copy_position(pairs.front()),
                    same_bytes({0, 0}, pairs.front()));
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            result_.places.emplace_back(position(pairs[i]), copy_position(pairs[i]));
            if (i > 0) {
                add(pairs[i - 1], pairs[i]);
            }
        }
        add_unknown(position(pairs.back()),
                    reference_.end(),
                    copy_position(pairs.back()),
                    copy_.end(),
                    same_bytes(pairs.back(), last));
        return std::move(result_);
    }

  private:
    std::uint64_t position(const CutPair& pair) const {
        return reference_.cuts()[pair.first].position;
    }
    std::uint64_t copy_position(const CutPair& pair) const {
        return copy_.cuts()[pair.second].position;
    }

    // If both have as many bytes before the first pair, or after the last one, the ends belong together. Else one may begin or end where a call
    // of the other one does, as the head of an answer is sent before the answer.
    void add_ends(std::vector<CutPair>& pairs) const {
        const std::vector<Cut>& a = reference_.cuts();
        const std::vector<Cut>& b = copy_.cuts();
        if (a.empty() || b.empty()) {
            return;
        }
        const CutPair first{0, 0}, last{a.size() - 1, b.size() - 1};
        const CutPair begin = pairs.empty() ? last : pairs.front();
        const CutPair end = pairs.empty() ? first : pairs.back();
        const bool is_known = !pairs.empty();
        const auto distance = [](const Cut& from, const Cut& to) {
            return to.position - from.position;
        };
        if (distance(a[0], a[begin.first]) == distance(b[0], b[begin.second])) {
            pairs.insert(pairs.begin(), first);
        } else if (const auto met = is_known ? where_one_begins(begin) : std::nullopt) {
            pairs.insert(pairs.begin(), *met);
        }
        if (distance(a[end.first], a.back()) == distance(b[end.second], b.back())) {
            pairs.push_back(last);
        } else if (const auto met = is_known ? where_one_ends(end) : std::nullopt) {
            pairs.push_back(*met);
        }
    }

    std::optional<CutPair> where_one_begins(const CutPair& pair) const {
        const std::uint64_t bytes = std::min(position(pair) - reference_.cuts().front().position,
                                             copy_position(pair) - copy_.cuts().front().position);
        return equal_pair(reference_.cut_at(position(pair) - bytes),
                          copy_.cut_at(copy_position(pair) - bytes),
                          pair);
    }

    std::optional<CutPair> where_one_ends(const CutPair& pair) const {
        const std::uint64_t bytes = std::min(reference_.cuts().back().position - position(pair),
                                             copy_.cuts().back().position - copy_position(pair));
        return equal_pair(reference_.cut_at(position(pair) + bytes),
                          copy_.cut_at(copy_position(pair) + bytes),
                          pair);
    }

    // These, if the bytes from there to the pair, or from the pair to there, are known to be the same in both.
    std::optional<CutPair> equal_pair(std::optional<std::size_t> cut,
                                      std::optional<std::size_t> copy_cut,
                                      const CutPair& pair) const {
        if (!cut || !copy_cut) {
            return std::nullopt;
        }
        const CutPair other{*cut, *copy_cut};
        const CutPair& from = std::min(other, pair);
        const CutPair& to = std::max(other, pair);
        const auto sum = sum_between(reference_.cuts()[from.first], reference_.cuts()[to.first]);
        return sum && sum == sum_between(copy_.cuts()[from.second], copy_.cuts()[to.second])
                   ? std::optional(other)
                   : std::nullopt;
    }

    // What one of them never moved there, a reader that gave up for one, is not unknown: it is nowhere.
    void add_unknown(std::uint64_t begin,
                     std::uint64_t end,
                     std::uint64_t copy_begin,
                     std::uint64_t copy_end,
                     std::uint64_t same = 0) {
        if (begin < end) {
            const std::uint64_t unknown = std::min(reference_.moved_between(begin, end),
                                                   copy_.moved_between(copy_begin, copy_end)) -
                                          same;
            result_.stretches.push_back({begin, end, 0, 0, Outcome::kNotCompared, unknown, same});
            result_.compared_bytes += same;
            result_.unknown_bytes += unknown;
        }
    }

    void add(const CutPair& from, const CutPair& to) {
        const Cut& a = reference_.cuts()[from.first];
        const Cut& a_end = reference_.cuts()[to.first];
        const Cut& b = copy_.cuts()[from.second];
        const Cut& b_end = copy_.cuts()[to.second];
        const auto sum = sum_between(a, a_end), copy_sum = sum_between(b, b_end);
        if (!sum || !copy_sum) {
            add_unknown(a.position, a_end.position, b.position, b_end.position);
            return;
        }
        result_.compared_bytes += a_end.position - a.position;
        const bool as_long = a_end.position - a.position == b_end.position - b.position;
        if (!as_long || *sum != *copy_sum) {
            result_.stretches.push_back({a.position,
                                         a_end.position,
                                         b.position,
                                         b_end.position,
                                         as_long ? Outcome::kChanged : Outcome::kResized,
                                         0,
                                         as_long ? 0 : same_bytes(from, to)});
        }
    }

    std::uint64_t same_bytes(const CutPair& from, const CutPair& to) const {
        const std::span cuts =
            std::span(reference_.cuts()).subspan(from.first, to.first - from.first + 1);
        const std::span copy_cuts =
            std::span(copy_.cuts()).subspan(from.second, to.second - from.second + 1);
        const bool is_put_in =
            position(to) - position(from) < copy_position(to) - copy_position(from);
        return is_put_in ? bytes_in_both(cuts, copy_cuts) : bytes_in_both(copy_cuts, cuts);
    }

    const Strip& reference_;
    const Strip& copy_;
    StripComparison result_;
};

}  // namespace

bool StripComparison::is_shifted() const {
    return std::adjacent_find(places.begin(), places.end(), [](const auto& a, const auto& b) {
               return a.second - a.first != b.second - b.first;
           }) != places.end();
}

bool StripComparison::is_whole(const Strip& reference, const Strip& copy) const {
    return !places.empty() && places.front() == std::pair(reference.begin(), copy.begin()) &&
           places.back() == std::pair(reference.end(), copy.end());
}

std::uint64_t StripComparison::differing_bytes() const {
    std::uint64_t bytes = 0;
    for (const Stretch& stretch : stretches) {
        bytes += stretch.outcome == Outcome::kNotCompared ? 0 : stretch.end - stretch.begin;
    }
    return bytes;
}

bool StripComparison::is_same(std::uint64_t copy_begin, std::uint64_t copy_end) const {
    auto next = std::partition_point(places.begin(), places.end(), [&](const auto& place) {
        return place.second <= copy_begin;
    });
    if (next == places.begin()) {
        return false;
    }
    for (; copy_begin < copy_end && next != places.end(); ++next) {
        const std::uint64_t from = std::prev(next)->first;
        const auto stretch =
            std::partition_point(stretches.begin(), stretches.end(), [&](const Stretch& one) {
                return one.end <= from;
            });
        if (stretch != stretches.end() && stretch->begin < next->first) {
            return false;
        }
        copy_begin = next->second;
    }
    return copy_begin >= copy_end;
}

std::uint64_t StripComparison::place_of(std::uint64_t position) const {
    const auto next = std::upper_bound(
        places.begin(), places.end(), position, [](std::uint64_t at, const auto& place) {
            return at < place.first;
        });
    if (next == places.begin()) {
        return places.empty() ? 0 : places.front().second;
    }
    const auto& [here, there] = *std::prev(next);
    return there + (position - here);
}

StripComparison compare_strips(const Strip& reference, const Strip& copy) {
    return Comparer(reference, copy).result();
}

}  // namespace dyetrace::analysis
