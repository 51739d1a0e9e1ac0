#include "analysis/pattern/coverage.h"

#include <algorithm>
#include <utility>

namespace dyetrace::analysis {
namespace {

using Edge = std::pair<std::uint64_t, int>;  // place, +1 where an access begins, -1 where it ends

std::vector<Edge> edges_of(std::span<const Access> accesses, const FileLayout& extent) {
    std::vector<Edge> edges;
    edges.reserve(2 * accesses.size());
    for (const Access& access : accesses) {
        edges.emplace_back(extent.place(access.file, access.offset), 1);
        edges.emplace_back(extent.place(access.file, access.end()), -1);
    }
    std::sort(edges.begin(), edges.end());
    return edges;
}

// Bytes of a stretch that was moved so many times, over the parts that it lies in.
void add_to_parts(std::array<double, Coverage::kParts>& moved,
                  double part_bytes,
                  std::uint64_t from,
                  std::uint64_t to,
                  std::uint64_t times) {
    auto part = static_cast<std::size_t>(static_cast<double>(from) / part_bytes);
    for (auto at = static_cast<double>(from); part < moved.size(); ++part) {
        const double end =
            std::min(static_cast<double>(to), static_cast<double>(part + 1) * part_bytes);
        moved[part] += std::max(0.0, end - at) * static_cast<double>(times);
        at = std::max(at, end);
        if (at >= static_cast<double>(to)) {
            return;
        }
    }
}

}  // namespace

FileLayout::FileLayout(std::vector<std::uint64_t> sizes, std::span<const Access> accesses) {
    for (const Access& access : accesses) {
        sizes.resize(std::max<std::size_t>(sizes.size(), access.file + 1));
        sizes[access.file] = std::max(sizes[access.file], access.end());
    }
    begins_.push_back(0);
    for (const std::uint64_t size : sizes) {
        begins_.push_back(begins_.back() + size);
    }
}

double FileLayout::fraction(const Access& access) const {
    return bytes() == 0 ? 0
                        : static_cast<double>(place(access.file, access.offset)) /
                              static_cast<double>(bytes());
}

Coverage coverage_of(std::span<const Access> accesses, const FileLayout& extent) {
    Coverage out;
    const double part_bytes =
        static_cast<double>(extent.bytes()) / static_cast<double>(Coverage::kParts);
    std::uint64_t times = 0, from = 0;
    for (const auto& [place, change] : edges_of(accesses, extent)) {
        if (times > 0 && place > from) {
            out.covered_bytes += place - from;
            out.once_bytes += times == 1 ? place - from : 0;
            out.times_max = std::max(out.times_max, times);
            add_to_parts(out.times, part_bytes, from, place, times);
        }
        times = change > 0 ? times + 1 : times - 1;
        from = place;
    }
    for (double& part : out.times) {
        part /= part_bytes > 0 ? part_bytes : 1;
    }
    return out;
}

}  // namespace dyetrace::analysis
