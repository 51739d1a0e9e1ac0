#include "schema/anchors.h"

#include "schema/keyed.h"

namespace dyetrace::schema {
namespace {

constexpr std::uint64_t kRange = std::uint64_t{1} << 32;

}  // namespace

// gear[b]: the low half of SipHash-2-4 of b, b + 256, b + 512, …, the first with which a run of b is no anchor: there the hash is
// -gear[b], the sum of gear[b] << i for 32 bits i.
AnchorRule::AnchorRule(std::uint32_t distance, const std::optional<ContentKey>& key)
    : threshold_(static_cast<std::uint32_t>(kRange / distance)), key_(key) {
    const ContentKey secret = key.value_or(ContentKey{});
    for (std::uint32_t byte = 0; byte < gear_.size(); ++byte) {
        std::uint64_t tried = byte;
        do {
            gear_[byte] = static_cast<std::uint32_t>(keyed(tried, secret.half[0], secret.half[1]));
            tried += gear_.size();
        } while (0u - gear_[byte] < threshold_);
    }
}

std::vector<AnchorWindow> AnchorRule::find(std::span<const std::byte> bytes) const {
    std::vector<AnchorWindow> found;
    std::uint32_t hash = 0;
    std::uint64_t last = 0, before = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        hash = (hash << 1) + gear_[std::to_integer<std::uint8_t>(bytes[i])];
        if (hash >= threshold_ || i + 1 < ANCHOR_WINDOW) {
            continue;
        }
        const std::size_t position = i + 1 - ANCHOR_WINDOW;
        const std::uint64_t print = fingerprint(bytes.subspan(position, ANCHOR_WINDOW), key_);
        if (print != last && print != before) {
            found.push_back({position, print});
            before = last;
            last = print;
        }
    }
    return found;
}

}  // namespace dyetrace::schema
