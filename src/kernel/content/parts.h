/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls that move bytes in parts: the messages of sendmmsg and recvmmsg (messages.bpf.c), the control blocks that io_getevents finds
 * completed (aio.bpf.c). Like all other calls they are written at once, or deferred (deferred.bpf.c): then what is true only at their exit
 * is kept until then.
 */
#pragma once

#include "kernel/content/byte_walk.h"

/* At the exit of the call in scratch: `scratch->messages`. */
static int begin_messages(struct scratch *scratch);
/* They are written after the event in scratch. */
static void write_messages(struct scratch *scratch);
static void write_completions(struct scratch *scratch, __u64 mm);

/* Where the bytes of a part lie; false: there is no such part. */
static bool find_message_bytes(struct byte_walk *walk, const struct syscall_event *event, __u32 index);
static bool find_completed_bytes(struct byte_walk *walk, const struct syscall_event *event, __u64 mm, __u32 index);

/* The address of a task's address space, which tells it from others. */
static __always_inline __u64 mm_of(struct scratch *scratch, struct task_struct *task)
{
	return number_of(scratch, LOAD(task, mm));
}

static __always_inline bool moves_in_parts(__u8 special)
{
	return special == SPECIAL_SENDMMSG || special == SPECIAL_RECVMMSG || special == SPECIAL_IO_GETEVENTS;
}

static __always_inline bool find_part_bytes(struct byte_walk *walk, const struct syscall_event *event, __u64 mm, __u32 index)
{
	if (shape_of(event->abi, event->syscall)->special == SPECIAL_IO_GETEVENTS)
		return find_completed_bytes(walk, event, mm, index);
	return find_message_bytes(walk, event, index);
}
