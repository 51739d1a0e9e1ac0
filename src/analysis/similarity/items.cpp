#include "analysis/similarity/items.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "content/anchor.h"
#include "content/sketch.h"

namespace dyetrace::analysis {
namespace {

constexpr std::uint32_t kNoContent = UINT32_MAX;
constexpr std::uint64_t kAnchorsBegin = std::uint64_t{1} << 32;  // among prints; windows are below

// The smallest window that a sketch of so many bytes from one to the next may have.
std::uint64_t first_window(std::uint32_t distance) {
    std::uint64_t level = 0;
    for (; (std::uint32_t{SKETCH_DISTANCE_MIN} << level) < distance; ++level) {
    }
    return level << SKETCH_LEVEL_SHIFT;
}

// Gives those of the sorted fingerprints that are `least` or more.
std::span<const std::uint64_t> from(std::span<const std::uint64_t> prints, std::uint64_t least) {
    const auto begin = std::lower_bound(prints.begin(), prints.end(), least);
    return prints.subspan(static_cast<std::size_t>(begin - prints.begin()));
}

// A number for a set, whatever the order: of two different sets it is the same once in 2^64.
std::uint64_t set_number(std::span<const std::uint64_t> fingerprints) {
    std::uint64_t sum = 0;
    for (std::uint64_t one : fingerprints) {
        one = (one ^ (one >> 31)) * 0x9e3779b97f4a7c15u;
        sum += one ^ (one >> 29);
    }
    return sum;
}

// Shorter than a window it may be anything: a line end, a zero.
bool has_telling_fingerprint(const Item& item) {
    return item.fingerprint && item.content_bytes >= ANCHOR_WINDOW;
}

}  // namespace

bool are_equal(const Item& a, const Item& b) {
    return a.fingerprint && a.fingerprint == b.fingerprint && a.content_bytes == b.content_bytes;
}

std::uint32_t finest_level(const std::array<std::uint64_t, kSketchLevels>& windows,
                           std::uint64_t most) {
    std::uint64_t taken = 0;
    for (std::uint32_t level = kSketchLevels; level > 0; --level) {
        taken += windows[level - 1];
        if (taken > most) {
            return level;
        }
    }
    return 0;
}

std::optional<std::uint32_t> Contents::of_item(std::size_t item) const {
    const std::uint32_t content = content_of_[item];
    return content == kNoContent ? std::nullopt : std::optional(content);
}

std::span<const std::uint64_t> Contents::anchors_of_item(std::size_t item) const {
    return from(prints_of_item(item), kAnchorsBegin);
}

std::span<const std::uint64_t> Contents::sketch_of_item(std::size_t item) const {
    const auto prints = prints_of_item(item);
    return prints.first(prints.size() - from(prints, kAnchorsBegin).size());
}

Compared Contents::compared(std::uint32_t a, std::uint32_t b, std::uint64_t shared) const {
    if (!has_sketch(a) || !has_sketch(b)) {
        return {anchors(a).size(), anchors(b).size(), shared, 0};
    }
    const std::uint32_t distance = std::max(first(a).sketch_distance, first(b).sketch_distance);
    const std::uint64_t least = first_window(distance);
    return {from(sketch(a), least).size(), from(sketch(b), least).size(), shared, distance};
}

std::uint32_t Items::add(const Item& item) {
    contents_.items_.push_back(item);
    return static_cast<std::uint32_t>(size() - 1);
}

void Items::add_anchor(std::uint32_t item, std::uint64_t fingerprint, std::uint64_t times) {
    contents_.items_[item].anchors += times;
    placed_.push_back({item, fingerprint});
}

void Items::add_window(std::uint32_t item, std::uint32_t distance, std::uint32_t window) {
    std::uint32_t& own = contents_.items_[item].sketch_distance;
    own = std::max(own, distance);
    placed_.push_back({item, window});
}

void Items::sort_prints() {
    const auto key = [](const Placed& one) { return std::tie(one.item, one.print); };
    std::sort(placed_.begin(), placed_.end(), [&](const Placed& a, const Placed& b) {
        return key(a) < key(b);
    });
    const auto end =
        std::unique(placed_.begin(), placed_.end(), [&](const Placed& a, const Placed& b) {
            return key(a) == key(b);
        });
    placed_.erase(end, placed_.end());
}

void Items::lay_out_prints() {
    sort_prints();
    contents_.prints_.reserve(placed_.size());
    std::size_t next = 0;
    for (std::uint32_t item = 0; item < size(); ++item) {
        const std::uint64_t least = first_window(contents_.items_[item].sketch_distance);
        for (; next < placed_.size() && placed_[next].item == item; ++next) {
            if (placed_[next].print >= least) {
                contents_.prints_.push_back(placed_[next].print);
            }
        }
        contents_.begins_.push_back(contents_.prints_.size());
    }
    placed_ = std::vector<Placed>();  // {} would keep the memory
}

// What makes items one content, and which of them comes first.
struct Items::Key {
    std::uint64_t anchors = 0, prints = 0, distance = 0, set = 0, fingerprint = 0,
                  content_bytes = 0;
    std::uint64_t self = 0;  // of a item that is like no other one
    std::uint32_t trace = 0;
    std::uint64_t id = 0;
    std::uint32_t item = 0;

    auto content() const {
        return std::tie(anchors, prints, distance, set, fingerprint, content_bytes, self);
    }
    bool same_content(const Key& other) const { return content() == other.content(); }
    // Those with more are larger.
    bool operator<(const Key& other) const {
        return std::tie(other.anchors,
                        other.prints,
                        distance,
                        set,
                        fingerprint,
                        content_bytes,
                        self,
                        trace,
                        id) < std::tie(anchors,
                                       prints,
                                       other.distance,
                                       other.set,
                                       other.fingerprint,
                                       other.content_bytes,
                                       other.self,
                                       other.trace,
                                       other.id);
    }
};

Items::Key Items::key_of(std::uint32_t index) const {
    const Item& item = contents_.items_[index];
    const auto prints = contents_.prints_of_item(index);
    const std::size_t anchors = contents_.anchors_of_item(index).size();
    Key key{.anchors = anchors,
            .prints = prints.size(),
            .distance = item.sketch_distance,
            .set = set_number(prints),
            .trace = item.trace,
            .id = item.id,
            .item = index};
    if (std::max(anchors, prints.size() - anchors) < kAnchorsTelling) {
        if (has_telling_fingerprint(item)) {
            key.fingerprint = *item.fingerprint;
            key.content_bytes = item.content_bytes;
        } else {
            key.self = std::uint64_t{index} + 1;
        }
    }
    return key;
}

std::vector<Items::Key> Items::sorted_keys() const {
    std::vector<Key> keys;
    keys.reserve(size());
    for (std::uint32_t item = 0; item < size(); ++item) {
        if (Key key = key_of(item); key.prints > 0 || key.content_bytes > 0) {
            keys.push_back(key);
        }
    }
    std::sort(keys.begin(), keys.end());
    return keys;
}

Contents Items::finish() && {
    lay_out_prints();
    const std::vector<Key> keys = sorted_keys();
    contents_.unknown_ = size() - keys.size();
    contents_.content_of_.assign(size(), kNoContent);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (i > 0 && !keys[i].same_content(keys[i - 1])) {
            contents_.firsts_.push_back(i);
        }
        contents_.content_of_[keys[i].item] =
            static_cast<std::uint32_t>(contents_.firsts_.size() - 1);
        contents_.members_.push_back(keys[i].item);
    }
    if (!keys.empty()) {
        contents_.firsts_.push_back(keys.size());
    }
    return std::move(contents_);
}

}  // namespace dyetrace::analysis
