/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a call begins and ends, and who has the CPU meanwhile.
 *
 *   tp_btf/sys_enter, sys_exit         registers, number or result
 *   raw_syscalls, by way of perf       what is common to all events, number, arguments or result; preemption is off
 *
 * Up to 6.18 every program runs with preemption off. Since 7.0 one of tp_btf may be put aside, and the kernel then leaves it out for others on that
 * CPU: such a kernel is given programs compiled BY_PERF, which miss no call. Their other programs hold the CPU while they use its scratch.
 */
#pragma once

#include "kernel/machine.h"

#ifdef BY_PERF
#define SYS_ENTER "tracepoint/raw_syscalls/sys_enter"
#define SYS_EXIT "tracepoint/raw_syscalls/sys_exit"
#define REGISTERS(ctx) registers_of(this_task())
#define RESULT_AT 2

#define hold_cpu() bpf_preempt_disable()
#define let_cpu_go() bpf_preempt_enable()
#else
#define SYS_ENTER "tp_btf/sys_enter"
#define SYS_EXIT "tp_btf/sys_exit"
#define REGISTERS(ctx) ((struct pt_regs *)(ctx)[0])
#define RESULT_AT 1
#define hold_cpu() ((void)0)
#define let_cpu_go() ((void)0)
#endif

/* In place of BPF_PROG(name, struct pt_regs *regs, long id), and the same with `result`. */
#define ENTER_PROGRAM(name)                                                                                                      \
	name(unsigned long long *ctx);                                                                                           \
	static __always_inline int name##_with(unsigned long long *ctx, struct pt_regs *regs, long id);                          \
	int name(unsigned long long *ctx)                                                                                        \
	{                                                                                                                        \
		return name##_with(ctx, REGISTERS(ctx), ctx[1]);                                                                 \
	}                                                                                                                        \
	static __always_inline int name##_with(unsigned long long *ctx, struct pt_regs *regs, long id)
#define EXIT_PROGRAM(name)                                                                                                       \
	name(unsigned long long *ctx);                                                                                           \
	static __always_inline int name##_with(unsigned long long *ctx, struct pt_regs *regs, long result);                      \
	int name(unsigned long long *ctx)                                                                                        \
	{                                                                                                                        \
		return name##_with(ctx, REGISTERS(ctx), ctx[RESULT_AT]);                                                         \
	}                                                                                                                        \
	static __always_inline int name##_with(unsigned long long *ctx, struct pt_regs *regs, long result)
/* In place of BPF_PROG, of a program that uses the CPU's scratch. */
#define HOLDING_PROGRAM(name, args...)                                                                                           \
	name(unsigned long long *ctx);                                                                                           \
	static __always_inline int name##_held(unsigned long long *ctx, ##args);                                                 \
	int name(unsigned long long *ctx)                                                                                        \
	{                                                                                                                        \
		hold_cpu();                                                                                                      \
		_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wint-conversion\"") /* as BPF_PROG does */     \
			name##_held(___bpf_ctx_cast(args));                                                                      \
		_Pragma("GCC diagnostic pop") let_cpu_go();                                                                      \
		return 0;                                                                                                        \
	}                                                                                                                        \
	static __always_inline int name##_held(unsigned long long *ctx, ##args)
