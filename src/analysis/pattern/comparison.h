// The order of two passes, compared piece by piece; passes.h says what a piece is.
#pragma once

#include <span>
#include <vector>

#include "analysis/pattern/access.h"
#include "analysis/pattern/passes.h"
#include "analysis/pattern/range_set.h"

namespace dyetrace::analysis {

// What a pass met, each byte where it was met first, in the order of time.
std::vector<FileRange> first_met(std::span<const Access> pass);

// Both as first_met gives them; at most 2^32 pieces each.
Comparison compare(std::span<const FileRange> before, std::span<const FileRange> after);

}  // namespace dyetrace::analysis
