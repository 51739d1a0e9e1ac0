#include "content/anchors.h"

#include <utility>

#include "content/keyed.h"

namespace dyetrace::content {
namespace {

constexpr std::uint64_t kRange = std::uint64_t{1} << 32;

std::uint32_t threshold_of(std::uint32_t distance) {
    return static_cast<std::uint32_t>(kRange / distance);
}

}  // namespace

// gear[b]: the low half of SipHash-2-4 of b, b + 256, b + 512, …, the first with which a run of b is no window of any distance: there
// the hash is -gear[b], the sum of gear[b] << i for 32 bits i.
AnchorRule::AnchorRule(std::uint32_t distance, const std::optional<ContentKey>& key)
    : distance_(distance), threshold_(threshold_of(distance)), key_(key) {
    const ContentKey secret = key.value_or(ContentKey{});
    for (std::uint32_t byte = 0; byte < gear_.size(); ++byte) {
        std::uint64_t tried = byte;
        do {
            gear_[byte] = static_cast<std::uint32_t>(keyed(tried, secret.half[0], secret.half[1]));
            tried += gear_.size();
        } while (0u - gear_[byte] < threshold_of(kDistanceMin));
    }
}

template <typename Take>
void AnchorRule::each_window(std::span<const std::byte> bytes,
                             std::uint32_t threshold,
                             Take take) const {
    std::uint32_t hash = 0;
    std::uint64_t last = 0, before = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        hash = (hash << 1) + gear_[std::to_integer<std::uint8_t>(bytes[i])];
        if (hash >= threshold || i + 1 < ANCHOR_WINDOW) {
            continue;
        }
        const std::size_t position = i + 1 - ANCHOR_WINDOW;
        const std::uint64_t print = fingerprint(bytes.subspan(position, ANCHOR_WINDOW), key_);
        if (print != last && print != before) {
            take(hash, AnchorWindow{position, print});
            before = last;
            last = print;
        }
    }
}

std::vector<AnchorWindow> AnchorRule::find(std::span<const std::byte> bytes) const {
    std::vector<AnchorWindow> found;
    each_window(bytes, threshold_, [&](std::uint32_t, const AnchorWindow& window) {
        found.push_back(window);
    });
    return found;
}

std::optional<WindowSketch> AnchorRule::sketch(std::span<const std::byte> bytes) const {
    WindowSketch sketch{.distance = sketch_distance(bytes.size()), .windows = {}};
    if (sketch.distance == 0 || sketch.distance >= distance_) {
        return std::nullopt;
    }
    each_window(
        bytes, threshold_of(sketch.distance), [&](std::uint32_t hash, const AnchorWindow& window) {
            sketch.windows.push_back(sketch_window(hash, window.fingerprint));
        });
    const bool is_whole = !sketch.windows.empty() && sketch.windows.size() <= SKETCH_WINDOWS_MAX;
    return is_whole ? std::optional(std::move(sketch)) : std::nullopt;
}

}  // namespace dyetrace::content
