// Stacks that the kernel counted by their number, as text: the outermost frame first, with semicolons, as flame graphs take them.
//
//   main;exec_simple_query;PortalRun           of a process
//   entry_SYSCALL_64;ksys_read;vfs_read        of the kernel
//
// What a process has mapped is read while it lives: look() does so, several times a second, and who asks for its stack. One that was gone by then has
// addresses in place of names. A stack ends with "…" where it was too deep, or where frames could not be followed any more.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "probes/kernel_names.h"
#include "probes/process_names.h"

namespace dyetrace::capture {

inline constexpr std::uint32_t kStackFramesMax = 127;

class StackTexts {
  public:
    // Reads stacks from a map of stack traces, which outlives this.
    explicit StackTexts(int stacks_map_fd) : map_fd_(stacks_map_fd) {}

    // Reads the names of the kernel's functions now: later there may be no right to.
    void read_kernel_names();

    // Remembers what new processes have mapped, and those that execute another program; at most some times a second.
    void look();

    // Nothing: there is no such stack.
    std::optional<std::string> of_kernel(std::uint32_t id);
    std::optional<std::string> of_process(pid_t pid, std::uint32_t id);

  private:
    void look_at(pid_t pid);
    std::vector<std::uint64_t> frames_of(std::uint32_t id) const;

    int map_fd_;
    std::int64_t looked_ns_ = 0;
    std::optional<probes::KernelNames> kernel_;
    probes::ProcessNames processes_;
    std::unordered_map<pid_t, std::string> seen_;  // the program of each process
};

}  // namespace dyetrace::capture
