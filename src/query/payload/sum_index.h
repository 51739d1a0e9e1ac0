// Sums of content (content/content_sum.h) of some events of a trace, and of their anchors.
//
// Limit: kAnchorsMax anchors, 24 bytes each.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/verify/strip.h"
#include "base/result.h"
#include "store/database.h"

namespace dyetrace::query {

class SumIndex {
  public:
    static constexpr std::size_t kAnchorsMax = 50'000'000;  // of 50 GB at the usual distance

    // kNotFound: the trace has no sums. kLimitReached: too many anchors.
    static Result<SumIndex> load(store::Database& database,
                                 const std::unordered_set<std::uint64_t>& events);

    std::optional<std::uint64_t> sum_of(std::uint64_t event) const;
    std::span<const analysis::SummedAnchor> anchors_of(std::uint64_t event) const;

  private:
    Result<void> load_sums(store::Database& database,
                           const std::unordered_set<std::uint64_t>& events);
    Result<void> load_anchors(store::Database& database);

    struct Entry {
        std::uint64_t sum = 0;
        std::size_t first = 0, count = 0;  // anchors
    };
    std::unordered_map<std::uint64_t, Entry> entries_;  // by event
    std::vector<analysis::SummedAnchor> anchors_;
};

}  // namespace dyetrace::query
