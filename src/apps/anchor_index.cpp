#include "apps/anchor_index.h"

namespace dyetrace::apps {
namespace {

// Numbers come unsigned: a position below 0 is brought above it.
constexpr std::int64_t kLift = std::int64_t{1} << 32;
constexpr const char* kAnchors =
    "SELECT _event_id(host_index, cpu, parent_sequence) AS event, (position + "
    "4294967296)::UBIGINT, "
    "fingerprint FROM internal.raw_anchor ORDER BY 1, 2";

}  // namespace

Result<AnchorIndex> AnchorIndex::load(store::Database& database) {
    TRY(store::NumberScan scan, database.scan_numbers(kAnchors));
    AnchorIndex index;
    for (;;) {
        TRY(const store::NumberBatch* const batch, scan.next());
        if (batch->rows == 0) {
            return index;
        }
        if (index.anchors_.size() + batch->rows > kAnchorsMax) {
            index = AnchorIndex();
            index.too_many_ = true;
            return index;
        }
        for (std::size_t row = 0; row < batch->rows; ++row) {
            Range& range = index.ranges_[batch->columns[0][row]];
            if (range.count++ == 0) {
                range.first = index.anchors_.size();
            }
            index.anchors_.push_back({static_cast<std::int64_t>(batch->columns[1][row]) - kLift,
                                      batch->columns[2][row]});
        }
    }
}

std::span<const analysis::Anchor> AnchorIndex::of(std::uint64_t event) const {
    const auto range = ranges_.find(event);
    return range == ranges_.end()
               ? std::span<const analysis::Anchor>()
               : std::span(anchors_).subspan(range->second.first, range->second.count);
}

}  // namespace dyetrace::apps
