#include "analysis/verify/shorter_copies.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace dyetrace::analysis {
namespace {

// Whether anybody wrote that file to there.
bool is_written_to(const std::vector<Copy>& copies, std::uint64_t object, std::uint64_t end) {
    return std::any_of(copies.begin(), copies.end(), [&](const Copy& copy) {
        return copy.in_file && copy.object2 == object && copy.end2() >= end;
    });
}

}  // namespace

std::vector<ShorterCopy> shorter_copies(const std::vector<Copy>& copies,
                                        std::span<const std::size_t> members,
                                        std::size_t reference,
                                        const std::map<std::size_t, StripComparison>& comparisons) {
    std::vector<ShorterCopy> shorter;
    const Strip& whole = copies[reference].strip;
    for (const std::size_t member : members) {
        const Copy& copy = copies[member];
        const auto& places = comparisons.at(member).places;
        const bool begins_alike =
            places.size() > 1 && places.front() == std::pair(whole.begin(), copy.strip.begin());
        if (member == reference || !copy.in_file || copy.object2 == 0 || !begins_alike) {
            continue;
        }
        const auto& [here, there] = places.back();
        const std::uint64_t end = here + (copy.strip.end() - there);
        const std::uint64_t whole_end2 = copy.end2() + (whole.end() - end);
        if (end < whole.end() && !is_written_to(copies, copy.object2, whole_end2)) {
            shorter.push_back({reference, member, end, whole.end()});
        }
    }
    return shorter;
}

}  // namespace dyetrace::analysis
