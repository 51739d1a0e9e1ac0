#include "analysis/verify/put_in.h"

#include <utility>

namespace dyetrace::analysis {
namespace {

using CutPair = std::pair<std::size_t, std::size_t>;  // of the shorter and of the longer one

std::uint64_t bytes_between(const Cut& from, const Cut& to) {
    return to.position - from.position;
}

// The farthest cuts from there that have the same bytes in front of them; `from` itself where there are none.
CutPair last_equal(std::span<const Cut> shorter, std::span<const Cut> longer, const CutPair& from) {
    CutPair last = from, next{from.first + 1, from.second + 1};
    while (next.first < shorter.size() && next.second < longer.size()) {
        const Cut& a = shorter[next.first];
        const Cut& b = longer[next.second];
        const std::uint64_t bytes = bytes_between(shorter[from.first], a);
        const std::uint64_t other_bytes = bytes_between(longer[from.second], b);
        if (bytes == other_bytes) {
            const auto sum = sum_between(shorter[from.first], a);
            if (!sum || sum != sum_between(longer[from.second], b)) {
                break;
            }
            last = next;
        }
        next.first += bytes <= other_bytes ? 1 : 0;
        next.second += other_bytes <= bytes ? 1 : 0;
    }
    return last;
}

}  // namespace

std::uint64_t bytes_in_both(std::span<const Cut> shorter, std::span<const Cut> longer) {
    if (shorter.size() + longer.size() > kCutsMax) {
        return 0;
    }
    std::uint64_t bytes = 0;
    CutPair at{0, 0};
    while (at.first + 1 < shorter.size() && at.second + 1 < longer.size()) {
        const CutPair next = last_equal(shorter, longer, at);
        bytes += bytes_between(shorter[at.first], shorter[next.first]);
        at = next == at ? CutPair{at.first, at.second + 1} : next;
    }
    return bytes;
}

}  // namespace dyetrace::analysis
