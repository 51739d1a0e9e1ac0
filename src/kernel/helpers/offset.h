/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where in a file or a stream an operation began.
 *
 *   file      at exit, minus what was moved: with threads that share a descriptor the position at entry is wrong in up to
 *             99 % of the calls, this one in at most 0.1 %, and then it is not certain
 *   stream    as the kernel saw it while it held the socket (stream.bpf.c), else at exit minus what was moved
 */
#pragma once

#include "kernel/helpers/call.h"
#include "kernel/helpers/socket.h"

#define MMAP2_UNIT_BITS 12 /* pages of 4 KiB, whatever the machine's are */

/* An open file that no other thread or process can move: then what its position says is certain. */
static __always_inline bool is_only_user(struct task_struct *task, __u64 file)
{
	struct files_struct *files = LOAD(task, files);

	return file && files && LOAD(files, count.counter) == 1 && references_of(typed(file, file)) == 1;
}

static __always_inline bool moved_under_us(struct syscall_event *event, struct task_state *state, struct scratch *scratch)
{
	if (scratch->seen.open_flags & O_APPEND && !(event->present & SYSCALL_HAS_ENTRY_MISSED))
		return !is_only_user(current_task(), state->entry_file);
	return event->file_offset != state->entry_position;
}

/* A write at an offset that Linux appends whatever the offset says; where that was is not to be seen. */
static __always_inline bool appends_anyway(struct scratch *scratch, const volatile struct syscall_shape *shape,
					   const struct syscall_event *event)
{
	if (!(shape->flags & CALL_IS_IO) || shape->flags & CALL_INBOUND)
		return false;
	return scratch->seen.open_flags & O_APPEND || (shape->rwf_flags && argument(event, shape->rwf_flags) & RWF_APPEND);
}

/* What a pointed-to or the file's own position says, as before the call. */
static __always_inline void fill_offset(struct syscall_event *event, const volatile struct syscall_shape *shape,
					struct task_state *state, struct scratch *scratch)
{
	__s64 moved = event->result > 0 ? event->result : 0;
	__s64 offset = 0;

	if (scratch->seen.object_type != OBJECT_TYPE_FILE && scratch->seen.object_type != OBJECT_TYPE_BLOCK_DEVICE)
		return;
	event->present |= SYSCALL_HAS_FILE_OFFSET | SYSCALL_HAS_OFFSET_CERTAIN;
	if (shape->offset) {
		offset = argument(event, shape->offset);
		if (shape->flags & CALL_PAGE_OFFSET)
			offset <<= MMAP2_UNIT_BITS;
		if (shape->flags & CALL_SPLIT_OFFSET && event->abi == ABI_COMPAT)
			offset = (__u32)offset | argument(event, shape->offset + 1) << 32;
		/* preadv2 and pwritev2: -1 is the file's own position */
		if (!(shape->flags & CALL_SPLIT_OFFSET) || offset != -1) {
			event->file_offset = offset;
			if (appends_anyway(scratch, shape, event))
				event->present &= ~(SYSCALL_HAS_FILE_OFFSET | SYSCALL_HAS_OFFSET_CERTAIN);
			return;
		}
	}
	if (shape->offset_pointer && argument(event, shape->offset_pointer)) {
		bpf_probe_read_user(&offset, sizeof(offset), (void *)argument(event, shape->offset_pointer));
		event->file_offset = offset - moved;
		return;
	}
	event->file_offset = scratch->seen.position - moved;
	if (moved_under_us(event, state, scratch))
		event->present &= ~SYSCALL_HAS_OFFSET_CERTAIN;
}

/* sendfile of 32-bit programs points to an offset of 4 bytes; sendfile64 and all others to 8. */
static __always_inline bool is_short_offset(const struct syscall_event *event)
{
	return event->abi == ABI_COMPAT && event->syscall == NUMBER_COMPAT_SENDFILE;
}

/* The same of the second file of sendfile, splice, copy_file_range, which was just seen; its position at entry is from copy.bpf.c. */
static __always_inline void fill_offset2(struct syscall_event *event, const volatile struct syscall_shape *shape,
					 struct task_state *state, struct scratch *scratch)
{
	__s64 offset = 0, moved = event->result > 0 ? event->result : 0;
	bool is_given = shape->offset_pointer2 && argument(event, shape->offset_pointer2);

	event->present |= SYSCALL_HAS_FILE_OFFSET2;
	if (is_given)
		bpf_probe_read_user(&offset, is_short_offset(event) ? 4 : 8, (void *)argument(event, shape->offset_pointer2));
	else
		offset = scratch->seen.position;
	event->file_offset2 = offset - moved;
	if (is_given || (event->file_offset2 == state->entry_position2 && !(event->present & SYSCALL_HAS_ENTRY_MISSED)))
		event->present |= SYSCALL_HAS_OFFSET2_CERTAIN;
}

/*
 * Where the bytes that a call moved on the socket just seen begin in its stream, in seen.stream_offset; 0 if that is no TCP socket (MPTCP is
 * none: its subflows number their own bytes), or the bytes are no part of the stream. In programs/stream.bpf.c.
 */
int find_stream_offset(scratch_ref ref, __u64 moved, __u32 inbound, __u32 message_flags);

static __always_inline void fill_stream_offset(struct scratch *scratch, const volatile struct syscall_shape *shape, bool inbound)
{
	struct syscall_event *event = &scratch->event;
	__u32 flags = shape->message_flags ? argument(event, shape->message_flags) : 0;

	if (event->result <= 0 || !find_stream_offset(ref_of(scratch), event->result, inbound, flags))
		return;
	event->stream_offset = scratch->seen.stream_offset;
	event->present |= SYSCALL_HAS_STREAM_OFFSET;
}
