/* SPDX-License-Identifier: GPL-2.0 */
/* All programs as one unit: Debian's libbpf cannot link objects that call the same kernel function (bpf_rdonly_cast). */
#include "kernel/aio.bpf.c"
#include "kernel/attach.bpf.c"
#include "kernel/content.bpf.c"
#include "kernel/context.bpf.c"
#include "kernel/dye.bpf.c"
#include "kernel/anchor.bpf.c"
#include "kernel/epoll.bpf.c"
#include "kernel/filter.bpf.c"
#include "kernel/memory.bpf.c"
#include "kernel/messages.bpf.c"
#include "kernel/name.bpf.c"
#include "kernel/object.bpf.c"
#include "kernel/pages.bpf.c"
#include "kernel/process.bpf.c"
#include "kernel/sets.bpf.c"
#include "kernel/signal.bpf.c"
#include "kernel/stream.bpf.c"
#include "kernel/syscall.bpf.c"
#include "kernel/task.bpf.c"

char LICENSE[] SEC("license") = "GPL";
