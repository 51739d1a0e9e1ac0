#include "analysis/verify/shorter_copies.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

namespace dyetrace::analysis {
namespace {

// How far each file was written to, by object.
std::unordered_map<std::uint64_t, std::uint64_t> ends_of_files(const std::vector<Copy>& copies) {
    std::unordered_map<std::uint64_t, std::uint64_t> ends;
    for (const Copy& copy : copies) {
        if (copy.in_file && copy.object2 != 0) {
            std::uint64_t& end = ends[copy.object2];
            end = std::max(end, copy.strip.end());
        }
    }
    return ends;
}

}  // namespace

std::vector<ShorterCopy> shorter_copies(const std::vector<Copy>& copies,
                                        std::span<const std::size_t> members,
                                        std::size_t reference,
                                        const std::map<std::size_t, StripComparison>& comparisons) {
    std::vector<ShorterCopy> shorter;
    const Strip& whole = copies[reference].strip;
    const auto ends = ends_of_files(copies);
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
        if (end < whole.end() && ends.at(copy.object2) < copy.strip.end() + (whole.end() - end)) {
            shorter.push_back({reference, member, end, whole.end()});
        }
    }
    return shorter;
}

}  // namespace dyetrace::analysis
