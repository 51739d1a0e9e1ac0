// What the kernel counted, as tables for people: rows of `stat` and `top`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/capture.h"

namespace dyetrace::recorder {

// Sums of totals that share something.
struct TotalRow {
    std::string name;
    std::uint64_t pid = 0;
    std::uint64_t read_bytes = 0;
    std::uint64_t written_bytes = 0;
    capture::Total total;  // calls, errors, times, histogram
};

enum class GroupBy { kCall, kProcess };

// Rows by falling time spent, or by falling bytes for processes. `earlier` is subtracted (empty: nothing).
std::vector<TotalRow> group_totals(const std::vector<capture::Total>& totals,
                                   const std::vector<capture::Total>& earlier,
                                   GroupBy by);

}  // namespace dyetrace::recorder
