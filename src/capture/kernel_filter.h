// A predicate's compiled form, put between the event and the ring.
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "filter/bpf_compiler.h"
#include "filter/predicate.h"
#include "filter/string_atoms.h"

struct bpf_program;
struct dyetrace_bpf;

namespace dyetrace::capture {

// A generated program of the type of sys_exit, which goes on in it.
Result<base::Fd> load_exit_program(const std::vector<bpf_insn>& code, const bpf_program* sys_exit);

class KernelFilter {
  public:
    // Into programs that are loaded (with filter_loaded set) and not attached yet. `host` is what the column says.
    static Result<KernelFilter> install(dyetrace_bpf& skeleton,
                                        const filter::Predicate& predicate,
                                        const std::string& host);

    // Conditions that are decided only where events are drained, as SQL.
    const std::vector<std::string>& undecided() const { return undecided_; }

    // What the program that decides about events is made for, and its string conditions: a program that takes its place needs both.
    const filter::BpfLayout& layout() const { return layout_; }
    const filter::StringAtoms& atoms() const { return atoms_; }

  private:
    std::vector<base::Fd> programs_;  // the table holds no program by itself
    std::vector<std::string> undecided_;
    filter::BpfLayout layout_;
    filter::StringAtoms atoms_;
};

}  // namespace dyetrace::capture
