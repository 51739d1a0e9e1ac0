/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls of 32-bit programs whose registers hold a pointer to the arguments. They are turned into what they stand for before
 * anything else looks at them, at entry and, where that found the memory absent, at exit.
 *
 *   mmap (90), select (82)   pointer ──► six words, five     the same call, with these arguments
 *   socketcall (102)         call, pointer ──► its words     the call that it carries: socketcall(9, {3, buffer, 5, 0})
 *                                                            becomes sendto(3, buffer, 5, 0, 0, 0), as in the kernel
 *
 * One whose words cannot be read (it fails with EFAULT) stays what it was, and says nothing of an object.
 */
#pragma once

#include "kernel/helpers/call.h"

#define CARRIED_MAX 32 /* socketcall's first argument; power of two */
const volatile struct carried_call carried_calls[CARRIED_MAX] = { CARRIED_CALLS };

/* Puts the arguments where these point to; returns the number of the call that has them, or NUMBER_MAX if there are none. */
static __always_inline __u32 unpack_call(__u32 number, __u64 *arguments)
{
	const volatile struct syscall_shape *shape = shape_of(ABI_COMPAT, number);
	__u64 at = arguments[0];
	__u32 count = shape->packed;
	__u32 words[8] = {};

	if (shape->special == SPECIAL_SOCKETCALL) {
		if (arguments[0] >= CARRIED_MAX)
			return NUMBER_MAX;
		number = carried_calls[at & (CARRIED_MAX - 1)].number;
		count = carried_calls[at & (CARRIED_MAX - 1)].words;
		at = arguments[1];
	}
	opaque(count);
	count &= 7;
	if (!count || bpf_probe_read_user(words, count * sizeof(words[0]), (void *)at))
		return NUMBER_MAX;
	for (int i = 0; i < 6; i++)
		arguments[i] = words[i];
	return number;
}

/* At entry, with the arguments in the task's memory. */
static __always_inline __u32 unpack_entry(struct task_state *state, __u32 number)
{
	__u32 carried = unpack_call(number, state->arguments);

	state->flags &= ~TASK_UNPACKED;
	if (carried == NUMBER_MAX)
		return number;
	state->flags |= TASK_UNPACKED;
	state->syscall = carried | ABI_COMPAT << ABI_SHIFT;
	return carried;
}

/* At exit: what the call needed is resident by now. */
static __always_inline void unpack_exit(struct syscall_event *event, struct task_struct *task, struct task_state *state)
{
	__u32 carried = unpack_call(event->syscall, event->arguments);
	const volatile struct syscall_shape *shape;

	state->flags &= ~TASK_UNPACKED;
	if (carried == NUMBER_MAX)
		return;
	event->syscall = carried;
	state->flags |= TASK_UNPACKED;
	shape = shape_of(ABI_COMPAT, carried);
	state->entry_file = shape->fd ? file_of(task, argument(event, shape->fd)) : 0;
}
