// Names for addresses in processes: the functions that a stack consists of.
//
//   ProcessNames names;
//   names.remember(pid);                      while it lives: what it has mapped
//   names.name_of(pid, 0x55d0c0de)            "exec_simple_query"; "libfoo.so+0x1234": a function without a name; "[vdso]"; "0x7f…"
//
//   pid ─► its maps ─► file ─► ProgramFunctions, one for all processes that have mapped this file (device, inode)
//                 └► nobody's file ─► /tmp/perf-PID.map, which runtimes that compile write (Java, Node.js)
//
// A process that ends keeps what was remembered of it, until kProcessesMax others came. Remember it again when it executes another program. Libraries that are
// loaded later are looked for when an address is unknown, kReadsMax times per process. An address that was returned to lies
// after the call that it is of: ask for the byte before it. For one thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "probes/debug_file.h"
#include "probes/process_maps.h"
#include "probes/program_functions.h"

namespace dyetrace::probes {

class ProcessNames {
  public:
    static constexpr std::size_t kProcessesMax = 4096;
    static constexpr std::size_t kProgramBytesMax =
        512 << 20;  // of names and addresses, at least one program
    static constexpr std::size_t kProgramsMax =
        256;  // each holds a descriptor, of which a process has 1,024
    static constexpr int kReadsMax = 16;

    explicit ProcessNames(std::string proc = "/proc", std::string debug_folder = kDebugFolder)
        : proc_(std::move(proc)), debug_folder_(std::move(debug_folder)) {}

    // Whether its maps could be read.
    bool remember(pid_t pid);
    void forget(pid_t pid);

    std::string name_of(pid_t pid, std::uint64_t address);

    std::size_t programs() const { return programs_.size(); }
    std::size_t processes() const { return processes_.size(); }

  private:
    struct Process {
        std::vector<ProcessMap> maps;
        std::vector<JitFunction> jit;
        std::optional<std::uint64_t> jit_bytes;  // of the file when it was read
        int reads = 0, jit_reads = 0;
        std::uint64_t last_use = 0;
    };
    using FileKey = std::pair<std::string, std::uint64_t>;  // device and inode
    struct Program {
        std::unique_ptr<ProgramFunctions> functions;  // null: it cannot be read
        std::uint64_t last_use = 0;
        std::size_t bytes = 0;
    };

    Process& process_of(pid_t pid);
    bool read_maps(pid_t pid, Process& process);
    const ProcessMap* find_map(pid_t pid, Process& process, std::uint64_t address);
    std::string jit_name(pid_t pid, Process& process, std::uint64_t address);
    const ProgramFunctions* program_of(pid_t pid, const ProcessMap& map);
    std::unique_ptr<ProgramFunctions> open_program(pid_t pid, const ProcessMap& map) const;
    void make_room();

    std::string proc_, debug_folder_;
    std::map<pid_t, Process> processes_;
    std::map<FileKey, Program> programs_;
    std::size_t program_bytes_ = 0;
    std::uint64_t clock_ = 0;  // counts uses
};

}  // namespace dyetrace::probes
