/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls that move bytes in parts: the messages of sendmmsg and recvmmsg (messages.bpf.c), the control blocks that io_getevents finds
 * completed (aio.bpf.c). Like all other calls they are written at once, or deferred (deferred.bpf.c): then what is true only at their exit
 * is kept until then.
 */
#pragma once

#include "kernel/content/byte_walk.h"

struct messages_walk {
	__u64 base;
	__u64 sent; /* bytes of those before the present one */
	__u64 stream_offset; /* of the first */
	__u32 count;
	__u16 operation;
	bool compat, has_stream;
	bool stays; /* each begins where the first does: MSG_PEEK without SO_PEEK_OFF */
	__u32 present; /* bits that all of them have */
	__u32 length; /* of the present one */
	__u64 vector, parts, control, control_bytes;
};

/* At the exit of the call in scratch. */
static int begin_messages(struct scratch *scratch, struct messages_walk *walk);
/* They are written after the event in scratch. */
static void write_messages(struct messages_walk *walk);
static void write_completions(struct scratch *scratch, __u64 mm);

/* Where the bytes of a part lie; false: there is no such part. */
static bool find_message_bytes(struct byte_walk *walk, const struct syscall_event *event, __u32 index);
static bool find_completed_bytes(struct byte_walk *walk, const struct syscall_event *event, __u64 mm, __u32 index);

/* The address of a task's address space, which tells it from others. */
static __always_inline __u64 mm_of(struct scratch *scratch, struct task_struct *task)
{
	return number_of(scratch, task->mm);
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
