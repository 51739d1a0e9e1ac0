// Another program in the background, in a process group of its own: Ctrl-C is not meant for it.
//
//   TRY(const pid_t sealer, spawn_in_background("/proc/self/exe", {"dyetrace", "seal", trace}));
//
// It is spawned, not forked: a child that waits for a CPU before its exec would hold what this process holds, also the links to
// the kernel's tracepoints. It starts with no signal blocked, and with no descriptor but the first three and those that it is given. The caller waits for it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace dyetrace::base {

// What the child has as another descriptor than we have.
struct ChildDescriptor {
    int ours, theirs;
};

// `descriptors` are those of the first three that are to be others, and 3, 4, … without a hole.
Result<pid_t> spawn_in_background(const std::string& program,
                                  std::vector<std::string> words,
                                  const std::vector<ChildDescriptor>& descriptors = {});

// For the program that was spawned, in the beginning and once: when its parent has gone it no longer holds what that one had as stdin, stdout and stderr, which
// others may read to their end. Takes SIGUSR1.
void let_go_when_alone();

}  // namespace dyetrace::base
