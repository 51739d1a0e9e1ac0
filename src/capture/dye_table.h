// The table of what is looked for, and the same search that the kernel does, for bytes that the recorder has.
//
//   DyeTable table;                                        8 MiB, on the heap
//   TRY(table.build({{1, schema::DyeForm::kPlain, "card=4929123456781234", false}}));
//   table.find(bytes, [](const DyePattern& pattern, std::size_t at) { … });     every occurrence, overlapping ones too
//
// Which windows of a pattern stand for it is chosen so that as few patterns as possible share one: 10,000 texts that begin
// alike are told apart by their ends.
//
// Limits: DYE_PATTERNS_MAX patterns of DYE_BYTES_MIN to DYE_BYTES_MAX bytes (src/content/dye_table.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "content/anchors.h"
#include "content/dye_table.h"
#include "schema/generated/records.h"

namespace dyetrace::capture {

// A dye as it may be written.
struct DyePattern {
    std::uint32_t dye = 0;
    schema::DyeForm form = schema::DyeForm::kPlain;
    std::string text;
    bool any_case = false;  // of ASCII letters
};

class DyeTable {
  public:
    DyeTable() : table_(std::make_unique<dye_table>()) {}

    // Replaces what was there. kLimitReached or kInvalidArgument: it is as it was.
    Result<void> build(std::vector<DyePattern> patterns);

    // Calls hit(pattern, position of its first byte) for all of them, in no order.
    template <typename Hit>
    void find(std::span<const std::byte> bytes, Hit&& hit) const;

    // Anchors as well; what crosses the border of two calls is joined in the same way.
    void look_for_anchors(content::AnchorRule rule);
    const std::optional<content::AnchorRule>& anchors() const { return anchors_; }

    const dye_table& raw() const { return *table_; }
    std::size_t edge_bytes() const { return table_->edge_bytes; }
    const std::vector<DyePattern>& patterns() const { return patterns_; }

  private:
    template <typename Hit>
    void compare(std::span<const std::byte> padded,
                 std::size_t length,
                 std::uint64_t window,
                 std::size_t at,
                 Hit& hit) const;

    std::unique_ptr<dye_table> table_;
    std::vector<DyePattern> patterns_;
    std::optional<content::AnchorRule> anchors_;
};

template <typename Hit>
void DyeTable::find(std::span<const std::byte> bytes, Hit&& hit) const {
    // the end of a pattern may be compared with what follows the bytes
    std::vector<std::byte> padded(bytes.begin(), bytes.end());
    padded.resize(padded.size() + DYE_BYTES_MAX);
    const auto* at = reinterpret_cast<const __u8*>(padded.data());
    for (std::size_t i = 0; i < bytes.size(); i += DYE_LONG_WINDOW) {
        const std::uint64_t window = dye_load8(at + i) | DYE_FOLD;
        if (table_->patterns_by_long > 0 &&
            dye_long_bit(table_->long_filter, table_->long_shift, window) != 0) {
            compare(padded, bytes.size(), window, i, hit);
        }
    }
    for (std::size_t i = 0; table_->patterns_by_short > 0 && i < bytes.size(); ++i) {
        const std::uint32_t window = dye_load4(at + i) | DYE_FOLD_SHORT;
        if (dye_short_bit(table_->short_filter, table_->short_shift, window) != 0) {
            compare(padded, bytes.size(), window, i, hit);
        }
    }
}

template <typename Hit>
void DyeTable::compare(std::span<const std::byte> padded,
                       std::size_t length,
                       std::uint64_t window,
                       std::size_t at,
                       Hit& hit) const {
    const dye_bucket& bucket = table_->buckets[dye_bucket_of(window)];
    for (std::uint32_t i = bucket.first; i < bucket.first + bucket.nodes; ++i) {
        const dye_node& node = table_->nodes[i];
        const dye_pattern& pattern = table_->patterns[node.pattern];
        if (node.window != window || node.offset > at ||
            at - node.offset + pattern.length > length) {
            continue;
        }
        const std::size_t begin = at - node.offset;
        if (dye_equals(reinterpret_cast<const __u8*>(padded.data()) + begin, &pattern)) {
            hit(patterns_[node.pattern], begin);
        }
    }
}

}  // namespace dyetrace::capture
