// Files that nobody wrote while they were recorded, and that several read.
#pragma once

#include <vector>

#include "analysis/verify/copies.h"

namespace dyetrace::analysis {

// Adds links from the first one who read most of a file to those who read it, too: one of them may have looked at its head only. Not of a device, or a
// pipe: each gets other bytes.
void link_readers(const std::vector<Copy>& copies, std::vector<CopyLink>& links);

}  // namespace dyetrace::analysis
