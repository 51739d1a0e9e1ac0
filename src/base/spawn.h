// Another program in the background, in a process group of its own: Ctrl-C is not meant for it.
//
//   TRY(const pid_t sealer, spawn_in_background("/proc/self/exe", {"dyetrace", "seal", trace}));
//
// It is spawned, not forked: a child that waits for a CPU before its exec would hold what this process holds, also the links to
// the kernel's tracepoints. It starts with no signal blocked, and with no descriptor but the first three. The caller waits for it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace dyetrace::base {

Result<pid_t> spawn_in_background(const std::string& program, std::vector<std::string> words);

}  // namespace dyetrace::base
