// Parts of the kernel that the programs use where they are there, and do without where not; found in its types.
#pragma once

#include <memory>

struct btf;
struct dyetrace_bpf;

namespace dyetrace::capture {

struct FreeTypes {
    void operator()(btf* types) const;
};

enum class Lack;

struct KernelSupport {
    bool casts = false;  // kfunc bpf_rdonly_cast: the kernel's memory is read without a helper
    bool loop = false;   // helper bpf_loop: walks without a number that the verifier knows
    bool tcp_sendmsg_locked = false;          // tracepoint
    bool tcp_rcv_space_adjust = false;        // tracepoint
    bool tcp_retransmit_skb = false;          // tracepoint
    bool retransmission_tells_error = false;  // its third argument
    bool copy_from_user_task = false;         // helper of iterators that sleep; both came with it
    bool task_work =
        false;  // kfunc bpf_task_work_schedule_resume_impl: programs that may wait for memory
    bool preempts_programs = false;  // of tp_btf, since 7.0
    bool sets_of_files = false;  // iterator over open files, each with the epoll sets that it is in

    std::unique_ptr<btf, FreeTypes> types;  // the kernel's

    // All false where the kernel's types cannot be read.
    static KernelSupport find();
    void forget(Lack lack);  // as if the kernel had it not
    // Before the programs are loaded: they use what is there, and those that need what is not are left out.
    void choose(dyetrace_bpf& skeleton) const;
};

}  // namespace dyetrace::capture
