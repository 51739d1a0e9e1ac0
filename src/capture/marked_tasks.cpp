#include "capture/marked_tasks.h"

#include <bpf/libbpf.h>
#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "capture/iterator.h"
#include "capture/unwatchable.h"
#include "kernel/abi.h"
#include "schema/generated/syscalls.bpf.h"
// the skeleton uses the types above
#include "kernel/dyetrace.skel.h"

namespace dyetrace::capture {
namespace {

constexpr pid_t kFirstProcess = 1;
// The kernel refuses a thread its state while another program, which lost its CPU in the middle of making one, is to go on there.
constexpr int kMarkAttempts = 500;
constexpr std::chrono::milliseconds kMarkAgainAfter{2};

}  // namespace

Result<void> MarkedTasks::mark(pid_t process, std::uint32_t flags, bool one_thread) {
    skeleton_->bss->mark_number = static_cast<std::uint32_t>(process);
    skeleton_->bss->mark_one_thread = one_thread;
    skeleton_->bss->mark_flags = flags;
    for (int attempt = 1;; ++attempt) {
        skeleton_->bss->marked = 0;
        skeleton_->bss->refused = 0;
        TRY(run_iterator(skeleton_->progs.mark_tasks));
        if (skeleton_->bss->refused == 0) {
            break;
        }
        if (attempt == kMarkAttempts) {
            return Error(ErrorCode::kLimitReached,
                         fmt::format("the kernel refused to keep in mind {} of the threads of "
                                     "process {}",
                                     skeleton_->bss->refused,
                                     process));
        }
        std::this_thread::sleep_for(kMarkAgainAfter);
    }
    return skeleton_->bss->marked > 0 ? Result<void>() : unwatchable(process);
}

Result<void> MarkedTasks::exclude(pid_t process) {
    excluded_.push_back(process);
    return mark(process, TASK_EXCLUDED);
}

Result<void> MarkedTasks::exclude_again() {
    for (const pid_t process : excluded_) {
        if (auto marked = mark(process, TASK_EXCLUDED);
            !marked.ok() && marked.error().code() != ErrorCode::kNotFound) {
            return marked;
        }
    }
    return {};
}

Result<std::uint32_t> MarkedTasks::count_watched() {
    skeleton_->bss->marked = 0;
    TRY(run_iterator(skeleton_->progs.count_watched));
    return skeleton_->bss->marked;
}

bool MarkedTasks::hides_first_process() {
    const Result<void> seen = mark(kFirstProcess, 0);
    return !seen.ok() && seen.error().code() == ErrorCode::kUnsupported;
}

}  // namespace dyetrace::capture
