// Anchors in bytes that lie in memory: the same ones that src/kernel/content/anchor.bpf.c finds (content/anchor.h, docs/content.md); and
// sketches (content/sketch.h).
//
//   AnchorRule rule(1024, key);
//   for (const Anchor& anchor : rule.find(bytes)) …          bytes[anchor.position, +32) is the window
//   if (const auto sketch = rule.sketch(bytes)) …            bytes are all that an operation moved
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "content/anchor.h"
#include "content/fingerprint.h"
#include "content/sketch.h"

namespace dyetrace::content {

struct AnchorWindow {
    std::size_t position = 0;  // of its first byte
    std::uint64_t fingerprint = 0;
    bool operator==(const AnchorWindow&) const = default;
};

struct WindowSketch {
    std::uint32_t distance = 0;          // from one window to the next, on average
    std::vector<std::uint32_t> windows;  // sketch_window() of each, as they lie
    bool operator==(const WindowSketch&) const = default;
};

class AnchorRule {
  public:
    static constexpr std::uint32_t kDistanceMin = SKETCH_DISTANCE_MIN;  // bytes; two windows
    static constexpr std::uint32_t kDistanceMax = 1u << 20;

    // `distance`: bytes from one to the next, on average, in bytes that do not repeat.
    explicit AnchorRule(std::uint32_t distance = ANCHOR_DISTANCE_DEFAULT,
                        const std::optional<ContentKey>& key = std::nullopt);

    std::vector<AnchorWindow> find(std::span<const std::byte> bytes) const;

    // Nothing if there are anchors enough without it, no windows, or more than a sketch holds.
    std::optional<WindowSketch> sketch(std::span<const std::byte> bytes) const;

    bool has_key() const { return key_.has_value(); }
    const std::array<std::uint32_t, 256>& gear() const { return gear_; }
    std::uint32_t threshold() const { return threshold_; }

  private:
    // Calls take(hash, window) for all windows under the threshold, but those whose fingerprint one of the two before them had.
    template <typename Take>
    void each_window(std::span<const std::byte> bytes, std::uint32_t threshold, Take take) const;

    std::uint32_t distance_;
    std::uint32_t threshold_;
    std::optional<ContentKey> key_;
    std::array<std::uint32_t, 256> gear_{};
};

}  // namespace dyetrace::content
