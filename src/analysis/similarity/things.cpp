#include "analysis/similarity/things.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "schema/anchor.h"

namespace dyetrace::analysis {
namespace {

constexpr std::uint32_t kNoContent = UINT32_MAX;

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
bool has_telling_fingerprint(const Thing& thing) {
    return thing.fingerprint && thing.content_bytes >= ANCHOR_WINDOW;
}

}  // namespace

bool are_equal(const Thing& a, const Thing& b) {
    return a.fingerprint && a.fingerprint == b.fingerprint && a.content_bytes == b.content_bytes;
}

std::optional<std::uint32_t> Contents::of_thing(std::size_t thing) const {
    const std::uint32_t content = content_of_[thing];
    return content == kNoContent ? std::nullopt : std::optional(content);
}

std::uint32_t Things::add(const Thing& thing) {
    contents_.things_.push_back(thing);
    return static_cast<std::uint32_t>(size() - 1);
}

void Things::add_anchor(std::uint32_t thing, std::uint64_t fingerprint, std::uint64_t times) {
    contents_.things_[thing].windows += times;
    placed_.push_back({thing, fingerprint});
}

void Things::lay_out_anchors() {
    const auto key = [](const Placed& one) { return std::tie(one.thing, one.fingerprint); };
    std::sort(placed_.begin(), placed_.end(), [&](const Placed& a, const Placed& b) {
        return key(a) < key(b);
    });
    const auto end =
        std::unique(placed_.begin(), placed_.end(), [&](const Placed& a, const Placed& b) {
            return key(a) == key(b);
        });
    const auto count = static_cast<std::size_t>(end - placed_.begin());
    contents_.anchors_.reserve(count);
    std::size_t next = 0;
    for (std::uint32_t thing = 0; thing < size(); ++thing) {
        for (; next < count && placed_[next].thing == thing; ++next) {
            contents_.anchors_.push_back(placed_[next].fingerprint);
        }
        contents_.begins_.push_back(next);
    }
    placed_ = std::vector<Placed>();  // {} would keep the memory
}

// What makes things one content, and which of them comes first.
struct Things::Key {
    std::uint64_t anchors = 0, set = 0, fingerprint = 0, content_bytes = 0;
    std::uint64_t self = 0;  // of a thing that is like no other one
    std::uint32_t trace = 0;
    std::uint64_t id = 0;
    std::uint32_t thing = 0;

    bool same_content(const Key& other) const {
        return std::tie(anchors, set, fingerprint, content_bytes, self) ==
               std::tie(
                   other.anchors, other.set, other.fingerprint, other.content_bytes, other.self);
    }
    bool operator<(const Key& other) const {
        return std::tie(other.anchors, set, fingerprint, content_bytes, self, trace, id) <
               std::tie(anchors,
                        other.set,
                        other.fingerprint,
                        other.content_bytes,
                        other.self,
                        other.trace,
                        other.id);
    }
};

Things::Key Things::key_of(std::uint32_t index) const {
    const Thing& thing = contents_.things_[index];
    const auto anchors = contents_.anchors_of_thing(index);
    Key key{.anchors = anchors.size(),
            .set = set_number(anchors),
            .trace = thing.trace,
            .id = thing.id,
            .thing = index};
    if (anchors.size() < kAnchorsTelling) {
        if (has_telling_fingerprint(thing)) {
            key.fingerprint = *thing.fingerprint;
            key.content_bytes = thing.content_bytes;
        } else {
            key.self = std::uint64_t{index} + 1;
        }
    }
    return key;
}

std::vector<Things::Key> Things::sorted_keys() const {
    std::vector<Key> keys;
    keys.reserve(size());
    for (std::uint32_t thing = 0; thing < size(); ++thing) {
        if (Key key = key_of(thing); key.anchors > 0 || key.content_bytes > 0) {
            keys.push_back(key);
        }
    }
    std::sort(keys.begin(), keys.end());
    return keys;
}

Contents Things::finish() && {
    lay_out_anchors();
    const std::vector<Key> keys = sorted_keys();
    contents_.unknown_ = size() - keys.size();
    contents_.content_of_.assign(size(), kNoContent);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (i > 0 && !keys[i].same_content(keys[i - 1])) {
            contents_.firsts_.push_back(i);
        }
        contents_.content_of_[keys[i].thing] =
            static_cast<std::uint32_t>(contents_.firsts_.size() - 1);
        contents_.members_.push_back(keys[i].thing);
    }
    if (!keys.empty()) {
        contents_.firsts_.push_back(keys.size());
    }
    return std::move(contents_);
}

}  // namespace dyetrace::analysis
