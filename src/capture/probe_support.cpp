#include "capture/probe_support.h"

#include <bpf/bpf.h>
#include <unistd.h>

#include <array>
#include <cstdint>

#include "base/fd.h"

namespace dyetrace::capture {
namespace {

constexpr const char* kKprobes = "/sys/bus/event_source/devices/kprobe/type";

// A number on the stack is added to itself, by an operation that returns nothing (0) or what was there before (BPF_FETCH).
bool can_add_atomically(std::int32_t fetch) {
    constexpr std::int16_t kNumber = -8;
    const std::array<bpf_insn, 4> code{
        {{BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0},
         {BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, BPF_REG_0, kNumber, 0},
         {BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_10, BPF_REG_0, kNumber, BPF_ADD | fetch},
         {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}}};
    return base::Fd(bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT,
                                  "dyetrace_tried",
                                  "GPL",
                                  code.data(),
                                  code.size(),
                                  nullptr))
        .valid();
}

}  // namespace

std::string probes_lack() {
    return can_add_atomically(BPF_FETCH) || !can_add_atomically(0)
               ? ""
               : "programs of this kernel have no atomic operation that returns what was there "
                 "before (Linux 5.12), with which probes count; system calls can be asked all the "
                 "same (FROM events)";
}

std::string kernel_functions_lack() {
    return ::access(kKprobes, F_OK) == 0
               ? ""
               : "this kernel has no kprobes (CONFIG_KPROBES); a tracepoint may stand near by, and "
                 "events have all system calls";
}

}  // namespace dyetrace::capture
