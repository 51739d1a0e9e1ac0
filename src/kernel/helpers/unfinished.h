/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A call that never returned: what it was about, as far as one that failed would tell.
 *
 *   its thread ends      exit itself; a call that a signal kills has returned by then
 *   the recording ends   whatever is under way: its paths and its address are in another task's memory, which is read where
 *                        the iterator may sleep
 *
 * Limits: what an iovec asks for and the members of poll sets are not told.
 */
#pragma once

#include "kernel/helpers/offset.h"
#include "kernel/helpers/paths.h"

/* Attaches a path argument of another task. Pages are read one by one, because what follows its end may not exist. */
static __always_inline enum path_kind attach_path_of(struct scratch *scratch, struct task_struct *task, __u64 user, __u16 kind)
{
	struct attachment_header *header = next_attachment(scratch);
	__u32 first = PAGE_BYTES - (user & (PAGE_BYTES - 1));
	__u8 *text = scratch->exec_path.text;
	long length;

	if (!header || !user || bpf_copy_from_user_task(text, first, (void *)user, task, 0))
		return PATH_NONE;
	if (first < PATH_BYTES_MAX) /* what cannot be read becomes 0 */
		bpf_copy_from_user_task(text + first, PATH_BYTES_MAX - first, (void *)user + first, task, 0);
	length = bpf_probe_read_kernel_str(header + 1, PATH_BYTES_MAX, text);
	if (length < 1)
		return PATH_NONE;
	finish_attachment(scratch, header, kind, length - 1);
	return kind_of(text, length - 1);
}

static __always_inline void attach_address_of(struct scratch *scratch, struct task_struct *task,
					      const volatile struct syscall_shape *shape)
{
	struct attachment_header *header = next_attachment(scratch);
	__u64 user = argument(&scratch->event, shape->address);
	__u32 length = argument(&scratch->event, shape->address + 1);

	if (!header || !user || length < 2)
		return;
	opaque(length);
	if (length > ADDRESS_BYTES_MAX)
		length = ADDRESS_BYTES_MAX;
	if (bpf_copy_from_user_task(header + 1, length, (void *)user, task, 0) == 0)
		finish_attachment(scratch, header, ATTACHMENT_ADDRESS, length);
}

/* What the pointers of another task's call mean. */
static __always_inline void fill_from_another(struct scratch *scratch, struct task_struct *task, struct task_state *state,
					      const volatile struct syscall_shape *shape)
{
	const struct syscall_event *event = &scratch->event;
	enum path_kind kind;

	if (shape->path) {
		kind = attach_path_of(scratch, task, argument(event, shape->path), ATTACHMENT_PATH);
		fill_first_base(scratch, typed(task_struct, task), state, shape, kind);
	}
	if (shape->path2) {
		kind = attach_path_of(scratch, task, argument(event, shape->path2), ATTACHMENT_PATH2);
		fill_second_base(scratch, typed(task_struct, task), shape, kind);
	}
	if (shape->name)
		attach_path_of(scratch, task, argument(event, shape->name), ATTACHMENT_NAME);
	if (shape->name2)
		attach_path_of(scratch, task, argument(event, shape->name2), ATTACHMENT_NAME2);
	if (shape->address && !(shape->flags & CALL_INBOUND))
		attach_address_of(scratch, task, shape);
}

static __always_inline void fill_unfinished_object(struct scratch *scratch, struct task_state *state,
						   const volatile struct syscall_shape *shape)
{
	struct syscall_event *event = &scratch->event;

	event->handle_id = scratch->seen.handle_id;
	event->open_flags = scratch->seen.open_flags;
	event->event_class = class_of(shape, scratch->seen.object_type);
	event->present |= SYSCALL_HAS_HANDLE | SYSCALL_HAS_OPEN_FLAGS;
	if (scratch->seen.object_type == OBJECT_TYPE_FILE) {
		event->object_size = scratch->seen.size;
		event->present |= SYSCALL_HAS_OBJECT_SIZE;
	}
	if (!shape->offset_pointer && !(scratch->seen.open_flags & O_APPEND) && (shape->flags & CALL_POSITION || shape->offset))
		fill_offset(event, shape, state, scratch);
}

/* What its descriptors tell; close has taken its own already. */
static __always_inline void fill_unfinished_objects(struct scratch *scratch, struct task_struct *task, struct task_state *state,
						    const volatile struct syscall_shape *shape)
{
	struct syscall_event *event = &scratch->event;

	if (shape->fd) {
		event->fd = argument(event, shape->fd);
		event->present |= SYSCALL_HAS_FD;
		see_file(scratch, file_of(task, event->fd), 0);
		if (shape->special == SPECIAL_CLOSE && state->handle_id) {
			scratch->seen.handle_id = state->handle_id;
			scratch->seen.open_flags = state->open_flags;
			scratch->seen.object_type = state->entry_type;
		}
		if (scratch->seen.handle_id)
			fill_unfinished_object(scratch, state, shape);
	}
	if (shape->fd2) {
		see_file(scratch, file_of(task, argument(event, shape->fd2)), 0);
		if (scratch->seen.handle_id) {
			event->handle2_id = scratch->seen.handle_id;
			event->present |= SYSCALL_HAS_HANDLE2;
		}
	}
}

static __always_inline void fill_unfinished(struct scratch *scratch, struct task_struct *task, struct task_state *state,
					    bool is_another)
{
	struct syscall_event *event = &scratch->event;
	const volatile struct syscall_shape *shape = shape_of(event->abi, event->syscall);

	event->event_class = shape->event_class;
	if (shape->packed && !(state->flags & TASK_UNPACKED))
		return;
	/* so that nothing is taken for what the call gave */
	event->result = -EINTR;
	fill_unfinished_objects(scratch, typed(task_struct, task), state, shape);
	if (shape->size) {
		event->requested = argument(event, shape->size);
		event->present |= SYSCALL_HAS_REQUESTED;
	}
	if (is_another && read_other_tasks)
		fill_from_another(scratch, task, state, shape);
	if (shape->special == SPECIAL_OWN_ADDRESS)
		event->present |= SYSCALL_HAS_NAMES_OWN_END;
	if (state->target_tid) {
		event->target_tid = state->target_tid;
		event->target_start_ns = state->target_start_ns;
		event->present |= SYSCALL_HAS_TARGET;
	}
	event->result = 0;
}

/* Writes the call that a thread is in and does not return from. */
static __always_inline void end_call(struct scratch *scratch, struct task_struct *task, struct task_state *state, bool is_another)
{
	struct syscall_event *event = &scratch->event;
	struct ring_control *control = ring_control(STREAM_EVENTS);

	if (!(state->flags & TASK_IN_CALL) || !control)
		return;
	control->generated++;
	__builtin_memset(event, 0, sizeof(*event));
	event->header.type = RECORD_SYSCALL_EVENT;
	event->start_ns = state->entry_ns;
	event->off_cpu_ns = state->off_cpu_ns;
	event->state = STATE_UNFINISHED;
	event->syscall = state->syscall;
	event->abi = state->syscall >> ABI_SHIFT;
	event->context_id = state->context_id;
	if (event->abi == ABI_COMPAT || shape_of(event->abi, event->syscall)->special)
		__builtin_memcpy(event->arguments, state->arguments, sizeof(event->arguments));
	else
		read_arguments(event->arguments, registers_of(task), event->abi);
	narrow_arguments(event->arguments, shape_of(event->abi, event->syscall));
	fill_unfinished(scratch, task, state, is_another);
	if (state->flags & TASK_CALL_ADOPTED)
		event->present |= SYSCALL_HAS_ENTRY_MISSED;
	state->flags &= ~(TASK_IN_CALL | TASK_CALL_ADOPTED);
	if (event->attachments <= sizeof(scratch->event_attachments))
		emit(STREAM_EVENTS, &event->header, sizeof(*event) + event->attachments);
}
