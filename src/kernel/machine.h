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

#if defined(__TARGET_ARCH_x86)
#include "kernel/machines/x86.h"
#elif defined(__TARGET_ARCH_arm64)
#include "kernel/machines/arm64.h"
#else
#error "src/kernel/machines has no file for this machine"
#endif
