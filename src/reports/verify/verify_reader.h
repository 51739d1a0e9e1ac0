// Asks a trace whether the copies of some content are the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "reports/question_arguments.h"
#include "reports/verify/verify_answer.h"
#include "store/database.h"

namespace dyetrace::reports {

// One of path, event and dye.
struct VerifyQuestion {
    std::optional<FileRange> path;
    std::optional<std::uint64_t> event;
    std::optional<std::string> dye;
};

// kNotFound: the trace has no such object, event or dye; or no sums of content.
Result<VerifyAnswer> read_copies(store::Database& database, const VerifyQuestion& question);

}  // namespace dyetrace::reports
