// The bytes that changed, of a trace that kept its payload.
//
//   the piece of the last good copy, of the first bad one      as `dyetrace cat` would give them back
//   ├ the sums are those of what moved?  no: somebody changed them while they were looked at
//   └ byte by byte                       (analysis/verify/byte_differences.h)
//
// A trace with redacted payload has no sums, and is not asked. Limits: pieces of kPieceBytesMax.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/verify/copies.h"
#include "base/result.h"
#include "reports/verify/verify_answer.h"

namespace dyetrace::reports {

inline constexpr std::size_t kPieceBytesMax =
    16u << 20;  // two are in memory; a piece usually has some kilobytes

// One element for each change.
Result<std::vector<ChangedBytes>> changed_bytes(const std::string& trace_path,
                                                const std::vector<analysis::Copy>& copies,
                                                const std::vector<analysis::Change>& changes);

}  // namespace dyetrace::reports
