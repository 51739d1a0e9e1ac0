/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What depends on the machine that the kernel runs on: its registers. All else of the programs is the same everywhere, and the table of
 * its calls is schema/syscalls.toml's.
 */
#pragma once

#include "kernel/kernel_types.h"
#include "schema/generated/records.bpf.h"
#include "schema/generated/syscalls.bpf.h"

#define NUMBER_MAX 0xffff

#ifdef WITHOUT_LOOPS /* before 5.15 no helper tells where a task's registers are: at the end of its stack */
#define registers_of(task)                                                                                                       \
	((struct pt_regs *)((__u64)LOAD(task, stack) + KERNEL_STACK_BYTES - bpf_core_type_size(struct pt_regs)))
#else
#define registers_of(task) ((struct pt_regs *)bpf_task_pt_regs(task))
#endif

#if defined(__TARGET_ARCH_x86)
#include "kernel/machines/x86.h"
#elif defined(__TARGET_ARCH_arm64)
#include "kernel/machines/arm64.h"
#else
#error "src/kernel/machines has no file for this machine"
#endif
