/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How an event begins: which call it is of, with which arguments, from when to when; nothing of what it acts on.
 */
#pragma once

#include "kernel/helpers/packed.h"

/*
 * False for the first exit of a new task, the return of its parent's clone, and for calls that began when sys_enter was
 * already detached: whatever is detached first, the other goes on for some milliseconds.
 */
static __always_inline bool is_own_call(struct task_state *state)
{
	bool missed = !(state->flags & TASK_IN_CALL), child = missed && state->flags & TASK_CHILD_RETURN;

	state->flags &= ~TASK_CHILD_RETURN;
	return !child && !(missed && ending);
}

static __always_inline void begin_event(struct syscall_event *event, struct task_state *state, struct pt_regs *regs,
					struct task_struct *task, long result)
{
	__u64 now = bpf_ktime_get_boot_ns();
	__u64 number = number_in(regs);
	const volatile struct syscall_shape *shape;

	__builtin_memset(event, 0, sizeof(*event));
	event->header.type = RECORD_SYSCALL_EVENT;
	event->result = result;
	event->present = SYSCALL_HAS_RESULT;
	event->abi = abi_of(task, &number);
	event->syscall = number;
	read_arguments(event->arguments, regs, event->abi);
	if (state->flags & TASK_IN_CALL) {
		event->start_ns = state->entry_ns;
		event->duration_ns = now - state->entry_ns;
		end_wait(state, now);
		event->off_cpu_ns = state->off_cpu_ns;
		event->present |= SYSCALL_HAS_DURATION;
		event->syscall = state->syscall; /* execve may have changed the abi, and rt_sigreturn everything */
		event->abi = state->syscall >> ABI_SHIFT;
		if (event->abi == ABI_COMPAT || shape_of(event->abi, event->syscall)->special == SPECIAL_EXEC)
			__builtin_memcpy(event->arguments, state->arguments, sizeof(event->arguments));
	}
	narrow_arguments(event->arguments, shape_of(event->abi, event->syscall));
	if (event->abi == ABI_COMPAT && !(state->flags & TASK_IN_CALL && state->flags & TASK_UNPACKED))
		unpack_exit(event, task, state);
	if (!(state->flags & TASK_IN_CALL)) {
		/* denied by seccomp, or attached in mid-call */
		event->start_ns = now;
		event->present |= SYSCALL_HAS_ENTRY_MISSED;
		shape = shape_of(event->abi, event->syscall);
		/* the descriptor is still there, but for close */
		state->entry_file = shape->fd && shape->special != SPECIAL_CLOSE ? file_of(task, argument(event, shape->fd)) : 0;
		state->handle_id = 0;
		state->target_tid = 0;
		state->stream_sk = 0;
		state->removed.ino = 0;
		state->address_room = 0;
	}
	state->flags &= ~TASK_IN_CALL;
}
