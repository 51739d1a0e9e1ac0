// Which thread a number means, in each pid namespace, and what it is called: of all threads of the system
// (src/kernel/programs/numbers.bpf.c). What begins or gets another name comes with the facts of a drain; what is there already
// comes from attach(), by itself.
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"

struct dyetrace_bpf;

namespace dyetrace::capture {

class ThreadNumbers {
  public:
    // Before the programs are loaded.
    void prepare(dyetrace_bpf& skeleton, bool is_asked);
    Result<void> attach(dyetrace_bpf& skeleton);
    // schema::ThreadNumber, one after the other; none unless asked for.
    const std::vector<std::byte>& found() const { return found_; }

  private:
    bool is_asked_ = false;
    std::vector<std::byte> found_;
};

}  // namespace dyetrace::capture
