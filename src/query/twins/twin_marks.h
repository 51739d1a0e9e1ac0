// Which events are twins, for SQL: _is_twin(event) of millions of rows. A bit for each event between the first and the last twin of a CPU, all but stretches without one.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "base/result.h"
#include "store/database.h"

namespace dyetrace::query {

class TwinMarks {
  public:
    void add(std::uint64_t event) { stretches_[event / kStretch].set(event % kStretch); }

    bool has(std::uint64_t event) const {
        const auto stretch = stretches_.find(event / kStretch);
        return stretch != stretches_.end() && stretch->second.test(event % kStretch);
    }
    bool empty() const { return stretches_.empty(); }

  private:
    static constexpr std::size_t kStretch =
        4096;  // ids of events, which of a CPU are one after the other

    std::unordered_map<std::uint64_t, std::bitset<kStretch>> stretches_;
};

// Registers _is_twin(event_id), which needs the table `twins`.
Result<void> register_twin_function(store::Database& database);

}  // namespace dyetrace::query
