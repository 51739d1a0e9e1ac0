/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handles messages of queues: tells the type or the priority of each, in whose order they come out, and which queue that is: one of System V is a
 * number in an IPC namespace. Both stand in the program's memory when the call ends, of the receiver too.
 */
#include "kernel/helpers/children.h"

/* -1: nobody can tell. */
static __always_inline __s64 type_of_message(const struct syscall_event *event)
{
	const volatile struct syscall_shape *shape = shape_of(event->abi, event->syscall);
	bool inbound = shape->flags & CALL_INBOUND;
	__s64 type = 0;
	__u32 priority = 0;
	__s32 short_type = 0;

	if (shape->fd && !inbound)
		return (__u32)event->arguments[3];
	if (shape->fd && !bpf_probe_read_user(&priority, sizeof(priority), (void *)event->arguments[3]))
		return priority;
	if (!shape->fd && event->abi == ABI_COMPAT &&
	    !bpf_probe_read_user(&short_type, sizeof(short_type), (void *)event->arguments[1]))
		return short_type;
	if (!shape->fd && event->abi != ABI_COMPAT && !bpf_probe_read_user(&type, sizeof(type), (void *)event->arguments[1]))
		return type;
	return -1;
}

/* How many messages are in a queue of POSIX. */
static __always_inline __s64 messages_left(const struct syscall_event *event)
{
	__u64 inode = inode_of(file_of(current_task(), event->arguments[0]));

	if (!inode)
		return -1;
	return READ(typed(mqueue_inode_info, inode - bpf_core_field_offset(struct mqueue_inode_info, vfs_inode)),
		    attr.mq_curmsgs);
}

/* Also of msgget, which has no message. */
static __always_inline void follow_queue(struct scratch *scratch)
{
	const struct syscall_event *event;
	const volatile struct syscall_shape *shape;
	struct event_object_fact *fact;

	if (scratch->event.result < 0)
		return;
	event = &scratch->event;
	shape = shape_of(event->abi, event->syscall);
	fact = begin_touch(scratch, EVENT_ROLE_MESSAGE, shape->fd ? (__s32)event->arguments[0] : -1, -1, -1);
	if (shape->flags & CALL_MOVES)
		fact->range_begin = type_of_message(event);
	fact->range_end = shape->fd ? messages_left(event) : (__s64)BPF_CORE_READ(current_task(), nsproxy, ipc_ns, ns.inum);
	fact->handle_id = event->handle_id;
	write_touched(ref_of(scratch));
}
