// Tells the programs in the kernel whom they watch, and whom they leave out.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "base/result.h"

struct dyetrace_bpf;

namespace dyetrace::capture {

class MarkedTasks {
  public:
    MarkedTasks() = default;
    // The programs are loaded by the time that something is marked.
    explicit MarkedTasks(dyetrace_bpf& skeleton) : skeleton_(&skeleton) {}

    // All threads of a process, or one thread by its number.
    Result<void> mark(pid_t process, std::uint32_t flags, bool one_thread = false);
    Result<void> exclude(pid_t process);
    // A thread that began between the mark and the attachment of task_fork has not inherited it; from now on all do.
    Result<void> exclude_again();
    // Threads that live of those that are watched.
    Result<std::uint32_t> count_watched();
    // Whether the kernel keeps process 1 from BPF programs, as some virtual machines do.
    bool hides_first_process();

  private:
    dyetrace_bpf* skeleton_ = nullptr;
    std::vector<pid_t> excluded_;
};

}  // namespace dyetrace::capture
