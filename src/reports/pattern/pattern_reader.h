// Asks a trace how a file, or a set of files, was read and written. A call that takes from one file and gives to another is an access of both.
#pragma once

#include <string>

#include "base/result.h"
#include "reports/pattern/pattern_answer.h"
#include "store/database.h"

namespace dyetrace::reports {

enum class PatternBy { kAll, kProcess, kThread };

// `path`: a path as the trace has it, or a glob, as the operator GLOB of SQL understands it. kNotFound: nobody read or wrote it; says what may have been meant.
// kLimitReached: a million files.
Result<PatternAnswer> read_pattern(store::Database& database,
                                   const std::string& path,
                                   PatternBy by);

}  // namespace dyetrace::reports
