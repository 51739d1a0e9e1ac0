// Copies of a source of which a connection is all that is known. It has frames of its own, so that what lies around them can be compared with no file;
// but files with each other:
//
//   connection   h-----h-----h-----         what a server received: the reference
//   first file    ----- ----- -----         what it stored: compared with the reference but for the bytes around each h
//   later file    ----- ----- -----         those of this one are compared with the first file
//
// What is the same there in both files is compared then, and what is not changed between the two: which of them is good nobody knows. A file with frames of its
// own, as a journal, is not held against the first one.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "analysis/verify/copies.h"

namespace dyetrace::analysis {

// Takes stretches of `comparisons` (with the reference, by copy) away that are the same in the first file, and adds what changed to `changes`. `members` by time.
void hold_against_first_file(const std::vector<Copy>& copies,
                             std::span<const std::size_t> members,
                             std::size_t reference,
                             std::map<std::size_t, StripComparison>& comparisons,
                             std::vector<Change>& changes);

}  // namespace dyetrace::analysis
