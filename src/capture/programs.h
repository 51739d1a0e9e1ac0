// The programs of src/kernel, as they suit this kernel: opened, so that what they are to do can be decided, and loaded.
#pragma once

#include <memory>
#include <optional>

#include "base/result.h"
#include "capture/kernel_support.h"
#include "capture/kernel_types.h"

struct dyetrace_bpf;

namespace dyetrace::capture {

class Programs {
  public:
    Programs() = default;
    static Result<Programs> open(const KernelSupport& support);

    dyetrace_bpf* skeleton() const { return skeleton_.get(); }

    // Only those stay that follow who is watched; before load().
    void leave_out_calls();

    Result<void> load();

  private:
    struct Close {
        void operator()(dyetrace_bpf* skeleton) const;
    };

    std::optional<NamedTypes> types_;  // of the kernel; until the programs are loaded
    std::unique_ptr<dyetrace_bpf, Close> skeleton_;
};

}  // namespace dyetrace::capture
