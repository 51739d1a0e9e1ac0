#include "analysis/verify/byte_differences.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace dyetrace::analysis {
namespace {

using Bytes = std::span<const std::byte>;

std::vector<std::byte> first_of(Bytes bytes) {
    const Bytes kept = bytes.first(std::min(bytes.size(), kDifferenceBytesKept));
    return {kept.begin(), kept.end()};
}

class Collector {
  public:
    Collector(const Stretch& stretch, Bytes reference, Bytes copy)
        : stretch_(stretch), reference_(reference), copy_(copy) {}

    // The difference begins at `begin` in both.
    void add(std::size_t begin, std::size_t old_size, std::size_t new_size) {
        result_.old_bytes += old_size;
        result_.new_bytes += new_size;
        if (result_.places.size() == kPlacesKept) {
            ++result_.places_left_out;
            return;
        }
        result_.places.push_back({stretch_.begin + begin,
                                  stretch_.begin + begin + old_size,
                                  stretch_.copy_begin + begin,
                                  stretch_.copy_begin + begin + new_size,
                                  first_of(reference_.subspan(begin, old_size)),
                                  first_of(copy_.subspan(begin, new_size))});
    }

    // There are as many bytes in both: each is compared with the one at its place.
    void compare_each() {
        for (auto at = reference_.begin(), other = copy_.begin();;) {
            std::tie(at, other) = std::mismatch(at, reference_.end(), other);
            if (at == reference_.end()) {
                return;
            }
            const auto begin = at;
            for (; at != reference_.end() && *at != *other; ++at, ++other) {
            }
            const auto size = static_cast<std::size_t>(at - begin);
            add(static_cast<std::size_t>(begin - reference_.begin()), size, size);
        }
    }

    void compare_ends() {
        const std::size_t shorter = std::min(reference_.size(), copy_.size());
        const auto front = static_cast<std::size_t>(
            std::mismatch(reference_.begin(), reference_.end(), copy_.begin(), copy_.end()).first -
            reference_.begin());
        const auto back = static_cast<std::size_t>(
            std::mismatch(reference_.rbegin(), reference_.rend(), copy_.rbegin(), copy_.rend())
                .first -
            reference_.rbegin());
        const std::size_t equal = front + std::min(back, shorter - front);
        add(front, reference_.size() - equal, copy_.size() - equal);
    }

    ByteDifferences result() && { return std::move(result_); }

  private:
    const Stretch& stretch_;
    Bytes reference_, copy_;
    ByteDifferences result_;
};

}  // namespace

ByteDifferences byte_differences(const Stretch& stretch, Bytes reference, Bytes copy) {
    CHECK(reference.size() == stretch.end - stretch.begin);
    CHECK(copy.size() == stretch.copy_end - stretch.copy_begin);
    Collector collector(stretch, reference, copy);
    if (reference.size() == copy.size()) {
        collector.compare_each();
    } else {
        collector.compare_ends();
    }
    return std::move(collector).result();
}

}  // namespace dyetrace::analysis
