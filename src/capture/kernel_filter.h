// A predicate's compiled form, put between the event and the ring.
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "filter/predicate.h"

struct dyetrace_bpf;

namespace dyetrace::capture {

class KernelFilter {
  public:
    // Into programs that are loaded (with filter_loaded set) and not attached yet. `host` is what the column says.
    static Result<KernelFilter> install(dyetrace_bpf& skeleton,
                                        const filter::Predicate& predicate,
                                        const std::string& host);

    // Conditions that are decided only where events are drained, as SQL.
    const std::vector<std::string>& undecided() const { return undecided_; }

  private:
    std::vector<base::Fd> programs_;  // the table holds no program by itself
    std::vector<std::string> undecided_;
};

}  // namespace dyetrace::capture
