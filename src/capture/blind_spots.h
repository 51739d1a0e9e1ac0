// What no program here sees yet, or sees only in part: a line each for the table `coverage` and for `dyetrace doctor`.
#pragma once

#include <string_view>
#include <vector>

#include "schema/record_info.h"

namespace dyetrace::capture {

struct BlindSpot {
    std::string_view name;
    schema::CoverageState state;  // off or partial
    std::string_view reason;      // what is therefore missing
};

// Those that this kernel can have.
std::vector<BlindSpot> blind_spots();

}  // namespace dyetrace::capture
