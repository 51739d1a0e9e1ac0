#include "analysis/pattern/pattern.h"

#include <algorithm>
#include <utility>

namespace dyetrace::analysis {
namespace {

// Steele and others, SplitMix64: every bit of the result depends on every bit of the number.
std::uint64_t mixed(std::uint64_t number) {
    number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
    number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
    return number ^ (number >> 31);
}

Sizes sizes_of(const std::vector<Access>& accesses) {
    Sizes out;
    std::vector<std::uint64_t> sizes;
    sizes.reserve(accesses.size());
    for (const Access& access : accesses) {
        sizes.push_back(access.bytes);
    }
    if (sizes.empty()) {
        return out;
    }
    std::sort(sizes.begin(), sizes.end());
    out.min = sizes.front();
    out.median = sizes[sizes.size() / 2];
    out.max = sizes.back();
    for (auto at = sizes.begin(); at != sizes.end();) {
        const auto next = std::upper_bound(at, sizes.end(), *at);
        out.frequent.push_back({*at, static_cast<std::uint64_t>(next - at)});
        at = next;
    }
    std::stable_sort(
        out.frequent.begin(), out.frequent.end(), [](const SizeCount& a, const SizeCount& b) {
            return a.accesses > b.accesses;
        });
    out.frequent.resize(std::min(out.frequent.size(), Sizes::kFrequent));
    return out;
}

}  // namespace

bool PatternBuilder::is_kept(const Access& access) const {
    const std::uint64_t number =
        access.fingerprint.value_or(mixed(access.file + 1) + access.offset);
    return mixed(number) % pattern_.sampled_one_in == 0;
}

void PatternBuilder::add(const Access& access, std::uint64_t end_ns) {
    steps_.add(access);
    pattern_.begin_ns = pattern_.accesses == 0 ? access.start_ns : pattern_.begin_ns;
    pattern_.end_ns = std::max({pattern_.end_ns, access.start_ns, end_ns});
    ++pattern_.accesses;
    pattern_.bytes += access.bytes;
    if (pattern_.kept_of_first || !is_kept(access)) {
        return;
    }
    pattern_.kept.push_back(access);
    if (pattern_.kept.size() > accesses_max_) {
        keep_half();
    }
}

void PatternBuilder::keep_half() {
    const std::size_t before = pattern_.kept.size();
    pattern_.sampled_one_in *= 2;
    const auto left = static_cast<std::size_t>(
        std::count_if(pattern_.kept.begin(), pattern_.kept.end(), [this](const Access& access) {
            return is_kept(access);
        }));
    if (left < before / kUnevenMax || before - left < before / kUnevenMax) {
        pattern_.sampled_one_in /= 2;
        pattern_.kept_of_first = pattern_.accesses;
        return;
    }
    std::erase_if(pattern_.kept, [this](const Access& access) { return !is_kept(access); });
}

Pattern PatternBuilder::finish(std::vector<std::uint64_t> file_sizes) && {
    Pattern& out = pattern_;
    out.steps = steps_.counts();
    out.verdict = verdict_of(out.steps);
    out.extent = FileLayout(std::move(file_sizes), out.kept);
    out.sizes = sizes_of(out.kept);
    out.coverage = coverage_of(out.kept, out.extent);
    out.by_place = passes_of(out.kept);
    if (std::vector<Access> known = by_content(out.kept); !known.empty()) {
        Passes passes = passes_of(known);
        out.by_content = ByContent{std::move(known), std::move(passes)};
    }
    return std::move(pattern_);
}

}  // namespace dyetrace::analysis
