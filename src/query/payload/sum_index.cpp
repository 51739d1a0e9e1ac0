#include "query/payload/sum_index.h"

#include <fmt/format.h>

#include "query/asked_rows.h"
#include "query/named_sql.h"
#include "query/sql.h"

namespace dyetrace::query {
Result<SumIndex> SumIndex::load(store::Database& database,
                                const std::unordered_set<std::uint64_t>& events) {
    SumIndex index;
    TRY(index.load_sums(database, events));
    TRY(index.load_anchors(database));
    return index;
}

Result<void> SumIndex::load_sums(store::Database& database,
                                 const std::unordered_set<std::uint64_t>& events) {
    bool has_any = false;
    TRY(each_number_row(
        database, filled(sql::kContentSums), [&](const auto& columns, std::size_t row) {
            has_any = true;
            if (events.contains(columns[0][row])) {
                entries_[columns[0][row]].sum = columns[1][row];
            }
        }));
    return has_any ? Result<void>()
                   : Error(ErrorCode::kNotFound,
                           fmt::format("'{}' has no sums of content to compare copies by: record "
                                       "with --content=anchors, and without --content-key and "
                                       "--redact",
                                       database.path()));
}

Result<void> SumIndex::load_anchors(store::Database& database) {
    TRY(store::NumberScan scan, database.scan_numbers(filled(sql::kContentAnchorSums)));
    for (;;) {
        TRY(const store::NumberBatch* const batch, scan.next());
        if (batch->rows == 0) {
            return {};
        }
        for (std::size_t row = 0; row < batch->rows; ++row) {
            const auto entry = entries_.find(batch->columns[0][row]);
            if (entry == entries_.end()) {
                continue;
            }
            if (anchors_.size() >= kAnchorsMax) {
                return Error(ErrorCode::kLimitReached,
                             fmt::format("the copies have more than {} anchors: ask about fewer",
                                         kAnchorsMax));
            }
            if (entry->second.count++ == 0) {
                entry->second.first = anchors_.size();
            }
            anchors_.push_back(
                {batch->columns[1][row], batch->columns[2][row], batch->columns[3][row]});
        }
    }
}

std::optional<std::uint64_t> SumIndex::sum_of(std::uint64_t event) const {
    const auto found = entries_.find(event);
    return found == entries_.end() ? std::nullopt : std::optional(found->second.sum);
}

std::span<const analysis::SummedAnchor> SumIndex::anchors_of(std::uint64_t event) const {
    const auto found = entries_.find(event);
    return found == entries_.end()
               ? std::span<const analysis::SummedAnchor>()
               : std::span(anchors_).subspan(found->second.first, found->second.count);
}

}  // namespace dyetrace::query
