// A question that counts, in place of the filter's program: events are added up where they happen.
//
//   sys_exit ──► the question's program ──► groups of table A        take(): the program of table B is put there, A is read and emptied
//
// While one table is read, the other one is counted in: no event is counted twice, or in neither.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "capture/kernel_filter.h"
#include "filter/bpf_grouping.h"
#include "filter/grouping.h"

namespace dyetrace::capture {

class KernelGroups {
  public:
    static constexpr std::uint32_t kGroupsMax =
        65'536;  // others are counted where they are drained

    // After the filter of the same condition, whose place it takes.
    static Result<KernelGroups> install(dyetrace_bpf& skeleton,
                                        const KernelFilter& filter,
                                        const filter::Grouping& grouping);

    // Why the kernel counts nothing and every event is handed out; empty: it does.
    const std::string& refused() const { return refused_; }

    // Adds what was counted since the last time; waits for the programs that are running.
    Result<void> take(filter::GroupTable& into);

  private:
    struct Table {
        base::Fd groups, program;
    };

    Result<void> go_on_in(std::uint32_t index, int program) const;

    std::string refused_;
    filter::BpfGrouping format_;
    base::Fd blank_;
    std::array<Table, 2> tables_;
    std::size_t counting_ = 0;
    int exit_programs_ = -1;  // the capture's
};

}  // namespace dyetrace::capture
