#include "capture/thread_numbers.h"

#include <bpf/libbpf.h>

#include <cerrno>

#include "capture/iterator.h"
#include "schema/generated/syscalls.bpf.h"
// the skeleton uses the types above
#include "kernel/dyetrace.skel.h"

namespace dyetrace::capture {

void ThreadNumbers::prepare(dyetrace_bpf& skeleton, bool is_asked) {
    is_asked_ = is_asked;
    for (bpf_program* program : {skeleton.progs.number_forked,
                                 skeleton.progs.number_renamed,
                                 skeleton.progs.number_tasks}) {
        bpf_program__set_autoload(program, is_asked);
    }
}

// Those that begin first, so that no thread is between the two.
Result<void> ThreadNumbers::attach(dyetrace_bpf& skeleton) {
    if (!is_asked_) {
        return {};
    }
    skeleton.links.number_forked = bpf_program__attach(skeleton.progs.number_forked);
    skeleton.links.number_renamed = bpf_program__attach(skeleton.progs.number_renamed);
    if (skeleton.links.number_forked == nullptr || skeleton.links.number_renamed == nullptr) {
        return base::Error::from_errno(errno, "cannot learn the names and numbers of threads");
    }
    return run_iterator(skeleton.progs.number_tasks, {}, &found_);
}

}  // namespace dyetrace::capture
