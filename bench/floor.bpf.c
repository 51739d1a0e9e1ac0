/* SPDX-License-Identifier: GPL-2.0 */
/* Empty programs where dyetrace has its own: what the kernel takes for calling them, whatever they do. */
// the second header needs the types of the first
// clang-format off
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
// clang-format on

char LICENSE[] SEC("license") = "GPL";

SEC("tp_btf/sys_enter")
int floor_enter(void* context) {
    return 0;
}

SEC("tp_btf/sys_exit")
int floor_exit(void* context) {
    return 0;
}
