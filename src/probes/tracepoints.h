// The tracepoints of this kernel.
//
//   TRY(const Tracepoints tracepoints, Tracepoints::of_this_kernel());
//   tracepoints.matching("sched:sched_s*")          ──► "sched:sched_stat_wait", "sched:sched_switch", ...
//   tracepoints.find("sched", "sched_switch")       ──► its id and its fields (tracepoint_format.h)
//
// Limits: what is in `available_events`; root only, as tracefs is.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "probes/kernel_folder.h"
#include "probes/tracepoint_format.h"

namespace dyetrace::probes {

class Tracepoints {
  public:
    static Result<Tracepoints> of_this_kernel();
    explicit Tracepoints(KernelFolder tracing) : tracing_(std::move(tracing)) {}

    // Sorted, each "category:name". A pattern without a colon is one of names, of any category.
    Result<std::vector<std::string>> matching(const std::string& pattern) const;
    Result<Tracepoint> find(const std::string& category, const std::string& name) const;

  private:
    KernelFolder tracing_;
};

}  // namespace dyetrace::probes
