// Who was made by whom, of the processes that run.
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/result.h"

namespace dyetrace::recorder {

// Children of these processes, their children, and so on, as /proc tells now; parents before their children, none twice, none of
// `processes` itself. What was orphaned belongs to its new parent.
Result<std::vector<pid_t>> descendants_of(const std::vector<pid_t>& processes);

}  // namespace dyetrace::recorder
