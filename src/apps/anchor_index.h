// The anchors of a trace by event, for the flow engine: a trace lists them in no order that it could read along with.
//
// Limit: anchors_max of them, 24 bytes each; over it, none (too_many()).
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/dataflow/operation.h"
#include "store/database.h"

namespace dyetrace::apps {

class AnchorIndex {
  public:
    static constexpr std::size_t kAnchorsMax = 50'000'000;  // of 50 GB at the usual distance

    static Result<AnchorIndex> load(store::Database& database);

    std::span<const analysis::Anchor> of(std::uint64_t event) const;
    bool too_many() const { return too_many_; }

  private:
    struct Range {
        std::size_t first = 0, count = 0;
    };
    std::vector<analysis::Anchor> anchors_;
    std::unordered_map<std::uint64_t, Range> ranges_;
    bool too_many_ = false;
};

}  // namespace dyetrace::apps
