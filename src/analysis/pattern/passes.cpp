#include "analysis/pattern/passes.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "analysis/pattern/comparison.h"
#include "analysis/pattern/range_set.h"

namespace dyetrace::analysis {
namespace {

FileRange range_of(const Access& access) {
    return {access.file, access.offset, access.end()};
}

// Where passes begin. `pass_` is what was met since the present one began, `again_` what came since more of it was met
// before than not: the beginning of the next pass, if there is one.
class PassFinder {
  public:
    std::vector<std::size_t> begins(std::span<const Access> accesses) {
        std::vector<std::size_t> out;
        for (std::size_t i = 0; i < accesses.size(); ++i) {
            if (i == 0) {
                out.push_back(0);
            }
            if (const auto begin = add(accesses[i], i)) {
                out.push_back(*begin);
            }
        }
        return out;
    }

  private:
    std::optional<std::size_t> add(const Access& access, std::size_t number) {
        const FileRange range = range_of(access);
        const bool is_again = 2 * pass_.covered(range) >= access.bytes;
        pass_.add(range);
        if (is_again) {
            return came_again(access, number);
        }
        ++distinct_;
        if (score_ > 0) {
            --score_;
            again_.add(range);
            ++again_distinct_;
        }
        return std::nullopt;
    }

    std::optional<std::size_t> came_again(const Access& access, std::size_t number) {
        if (score_ == 0) {
            again_.clear();
            again_distinct_ = 0;
            begin_ = number;
        }
        if (2 * again_.add(range_of(access)) >= access.bytes) {
            ++again_distinct_;
            ++score_;
        }
        if (distinct_ < kPassMin || score_ < std::min(distinct_, kAgainMin)) {
            return std::nullopt;
        }
        pass_ = std::exchange(again_, {});
        distinct_ = std::exchange(again_distinct_, 0);
        score_ = 0;
        return begin_;
    }

    RangeSet pass_, again_;
    std::size_t distinct_ = 0, again_distinct_ = 0;  // accesses that were new when they came
    std::size_t score_ = 0, begin_ = 0;
};

std::span<const Access> accesses_of(const Pass& pass, std::span<const Access> accesses) {
    return accesses.subspan(pass.first, pass.accesses);
}

// Which share of the places where accesses begin is one where only one access begins.
double once_share(std::span<const Access> pass) {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> places;
    places.reserve(pass.size());
    for (const Access& access : pass) {
        places.emplace_back(access.file, access.offset);
    }
    std::sort(places.begin(), places.end());
    std::size_t distinct = 0, once = 0;
    for (std::size_t begin = 0; begin < places.size(); ++distinct) {
        const auto end = std::upper_bound(
            places.begin() + static_cast<std::ptrdiff_t>(begin), places.end(), places[begin]);
        const auto next = static_cast<std::size_t>(end - places.begin());
        once += next - begin == 1 ? 1 : 0;
        begin = next;
    }
    return distinct == 0 ? 1 : static_cast<double>(once) / static_cast<double>(distinct);
}

Pass pass_of(std::span<const Access> accesses, std::size_t first, std::size_t count) {
    Pass pass{first, count, 0, 0, 0, std::nullopt};
    std::set<std::uint32_t> files;
    for (const Access& access : accesses.subspan(first, count)) {
        pass.moved_bytes += access.bytes;
        files.insert(access.file);
    }
    pass.files = files.size();
    return pass;
}

void compare_passes(std::vector<Pass>& passes, std::span<const Access> accesses) {
    std::vector<FileRange> before;
    for (Pass& pass : passes) {
        std::vector<FileRange> met = first_met(accesses_of(pass, accesses));
        for (const FileRange& range : met) {
            pass.distinct_bytes += range.to - range.from;
        }
        if (pass.first > 0) {
            pass.beside_previous = compare(before, met);
        }
        before = std::move(met);
    }
}

}  // namespace

Passes passes_of(std::span<const Access> accesses) {
    Passes out;
    const std::vector<std::size_t> begins = PassFinder().begins(accesses);
    for (std::size_t i = 0; i < begins.size(); ++i) {
        const std::size_t end = i + 1 < begins.size() ? begins[i + 1] : accesses.size();
        out.passes.push_back(pass_of(accesses, begins[i], end - begins[i]));
    }
    out.revisits = out.passes.size() > 1 &&
                   std::any_of(out.passes.begin(), out.passes.end(), [&](const Pass& pass) {
                       return once_share(accesses_of(pass, accesses)) < kOnceShareMin;
                   });
    if (out.revisits) {
        out.passes = {pass_of(accesses, 0, accesses.size())};
    }
    compare_passes(out.passes, accesses);
    return out;
}

std::vector<Access> by_content(std::span<const Access> accesses) {
    struct Content {
        std::uint64_t fingerprint, bytes;
        bool operator==(const Content&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Content& content) const { return content.fingerprint; }
    };
    std::unordered_map<Content, std::uint64_t, Hash> places;
    std::vector<Access> out;
    std::uint64_t end = 0;
    for (const Access& access : accesses) {
        if (!access.fingerprint || access.bytes < kContentBytesMin) {
            continue;
        }
        const auto [place, is_new] =
            places.try_emplace(Content{*access.fingerprint, access.bytes}, end);
        end += is_new ? access.bytes : 0;
        Access moved = access;
        moved.file = 0;
        moved.offset = place->second;
        out.push_back(moved);
    }
    return out;
}

}  // namespace dyetrace::analysis
