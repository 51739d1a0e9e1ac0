// Files that have the beginning of what they are a copy of, and less than all of it: a disk was full, a program gave up.
//
//   reference   ----A-----B----C------D---
//   copy        ----A-----B----C--|             shorter, unless more was written to the file after its end
//
// Nobody can tell whether the rest was meant to be there: a part of a file is one, too.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "analysis/verify/copies.h"

namespace dyetrace::analysis {

// `members` of the family of `reference`, in this order; comparisons are with the reference, by copy.
std::vector<ShorterCopy> shorter_copies(const std::vector<Copy>& copies,
                                        std::span<const std::size_t> members,
                                        std::size_t reference,
                                        const std::map<std::size_t, StripComparison>& comparisons);

}  // namespace dyetrace::analysis
