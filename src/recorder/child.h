// The command that is recorded: started held back, let go when the recorder listens.
//
//   TRY(Child child, Child::start({"ls", "-l"}));    a process that waits before its execve
//   ... mark it, attach ...
//   TRY(child.release());                            execve; a program that cannot be run is said
//   child.poll()                                     has it ended?
//
// The command keeps stdin, stdout, stderr, its signal mask and its working directory as they were.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace dyetrace::recorder {

class Child {
  public:
    static Result<Child> start(const std::vector<std::string>& command);

    pid_t pid() const { return pid_; }
    Result<void> release();
    void signal(int number) const;

    // wait()'s status once it has ended.
    std::optional<int> poll();

  private:
    pid_t pid_ = -1;
    base::Fd gate_;    // closing or writing lets the child go
    base::Fd report_;  // the child's errno if execve failed; end of file if it worked
    std::optional<int> status_;
};

// Exit status when a recording of the command could not start: as a shell, 127 for a program that is not there, 126 for one
// that cannot be run; else 1.
int status_of_failed_start(const std::vector<std::string>& command);

// Ends this process as the command ended: its exit status, or killed by the same signal.
int pass_on(int wait_status);

}  // namespace dyetrace::recorder
