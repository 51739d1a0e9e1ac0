/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handles sendmmsg and recvmmsg: writes a part per message, with its own bytes and address. Of every call with messages it writes
 * the descriptors that travel in them (SCM_RIGHTS).
 *
 *   msgvec   | msghdr | msg_len |  msghdr | msg_len | …
 *                 └─► control   | cmsghdr | fd fd fd |  cmsghdr | …
 */
#include "kernel/helpers/children.h"
#include "kernel/content/content.h"
#include "kernel/helpers/offset.h"
#include "kernel/content/parts.h"

#define CONTROL_STEPS_MAX 512 /* 253 descriptors (SCM_MAX_FD), and headers between them */

/* Reads one header, or one descriptor of the present one. */
LOOP_BODY(control_step)
{
	struct scratch *scratch = cpu_scratch();
	__u64 header[2] = {}, length;
	struct control_walk *walk;
	__u32 size, align;
	__s32 fd = -1;

	if (!scratch)
		return 1;
	walk = &scratch->control;
	size = walk->compat ? 12 : 16;
	align = walk->compat ? 3 : 7;
	if (walk->fd + sizeof(fd) <= walk->fds_end) {
		if (bpf_probe_read_user(&fd, sizeof(fd), (void *)walk->fd) == 0)
			touch_descriptor(scratch, EVENT_ROLE_PASSED, fd, 0);
		walk->fd += sizeof(fd);
		return 0;
	}
	if (walk->next + size > walk->end || bpf_probe_read_user(header, size, (void *)walk->next))
		return 1;
	if (walk->compat) { /* u32 length, level, type */
		header[1] = header[0] >> 32 | header[1] << 32;
		header[0] = (__u32)header[0];
	}
	length = header[0];
	if (length < size || length > walk->end - walk->next)
		return 1;
	if ((__u32)header[1] == SOL_SOCKET && header[1] >> 32 == SCM_RIGHTS) {
		walk->fd = walk->next + size;
		walk->fds_end = walk->next + length;
	}
	walk->next += (length + align) & ~(__u64)align;
	return 0;
}

static __always_inline void touch_passed(struct scratch *scratch, __u64 control, __u64 bytes, bool compat)
{
	scratch->control = (struct control_walk){ .next = control, .end = control + bytes, .compat = compat };
	if (control && bytes)
		each_turn(CONTROL_STEPS_MAX, control_step);
}

__noinline int write_passed(scratch_ref ref)
{
	struct scratch *scratch = scratch_of(ref);
	struct message message;
	bool compat;

	if (!scratch || scratch->event.result < 0)
		return 0;
	compat = scratch->event.abi == ABI_COMPAT;
	if (read_message(&message, scratch->event.arguments[1], compat))
		touch_passed(scratch, message.control, message.control_bytes, compat);
	return 0;
}

static __always_inline void follow_message(struct scratch *scratch)
{
	write_passed(ref_of(scratch));
}

static __always_inline bool read_indexed(__u64 base, bool compat, __u32 index, struct message *message, __u32 *length)
{
	__u64 at = base + index * (compat ? 32 : 64);

	return read_message(message, at, compat) &&
	       bpf_probe_read_user(length, sizeof(*length), (void *)(at + (compat ? 28 : 56))) == 0;
}

static __noinline bool find_message_bytes(struct byte_walk *walk, const struct syscall_event *event, __u32 index)
{
	bool compat = event->abi == ABI_COMPAT;
	struct message message;
	__u32 length = 0;

	if (is_dropped(event, shape_of(event->abi, event->syscall)) ||
	    !read_indexed(event->arguments[1], compat, index, &message, &length))
		return false;
	begin_walk(walk, length);
	walk->compat = compat;
	walk->vector = message.vector;
	walk->parts = message.parts;
	return true;
}

LOOP_BODY(sum_message)
{
	struct scratch *scratch = cpu_scratch();
	struct messages_walk *walk;
	struct message message;
	__u32 length = 0;

	if (!scratch)
		return 1;
	walk = &scratch->messages;
	if (!read_indexed(walk->base, walk->compat, index, &message, &length))
		return 1;
	walk->sent += length;
	return 0;
}

LOOP_BODY(keep_room)
{
	struct scratch *scratch = cpu_scratch();
	struct messages_walk *walk;
	struct message message;
	__u32 length;

	if (!scratch || index >= MESSAGES_MAX)
		return 1;
	walk = &scratch->messages;
	scratch->rooms.bytes[index] = 0;
	if (!read_indexed(walk->base, walk->compat, index, &message, &length) || !message.name)
		return 0;
	scratch->rooms.bytes[index] = message.name_bytes < ADDRESS_BYTES_MAX ? message.name_bytes : ADDRESS_BYTES_MAX;
	return 0;
}

static __always_inline void prepare_recvmmsg(struct scratch *scratch, struct task_state *state)
{
	struct messages_walk *walk = &scratch->messages;
	__u64 key;
	__u32 count;

	walk->base = state->arguments[1];
	walk->compat = state->syscall >> ABI_SHIFT == ABI_COMPAT;
	count = state->arguments[2];
	each_turn(count < MESSAGES_MAX ? count : MESSAGES_MAX, keep_room);
	key = number_of(scratch, current_task());
	bpf_map_update_elem(&address_rooms, &key, &scratch->rooms, BPF_ANY);
}

/* What of a message's name was written: as much as there was room for, or all that was sent. */
static __always_inline __u32 name_bytes_of(struct scratch *scratch, const struct message *message, __u32 index)
{
	const struct syscall_event *event = &scratch->event;
	__u64 key = number_of(scratch, current_task());
	struct address_rooms *rooms;
	__u32 room;

	if (!(shape_of(event->abi, event->syscall)->flags & CALL_INBOUND))
		return message->name_bytes;
	rooms = bpf_map_lookup_elem(&address_rooms, &key);
	if (!rooms || event->present & SYSCALL_HAS_ENTRY_MISSED || index >= MESSAGES_MAX)
		return 0;
	room = rooms->bytes[index];
	return message->name_bytes <= room ? message->name_bytes : cut_address(room);
}

static __always_inline void attach_part_address(struct scratch *scratch, const struct message *message, __u32 index)
{
	struct part_buffer *part = cpu_part();
	struct attachment_header *header;
	__u32 length = message->name ? name_bytes_of(scratch, message, index) : 0;

	if (!part || !message->name || length < 2)
		return;
	header = (void *)part->attachments;
	opaque(length);
	if (length > ADDRESS_BYTES_MAX)
		length = ADDRESS_BYTES_MAX;
	if (bpf_probe_read_user(header + 1, length, (void *)message->name))
		return;
	part->part.attachments = finish_header(header, ATTACHMENT_ADDRESS, length);
}

/* Not inlined: what it needs would lie on the stack of all that looks at the message. NULL: there is no such message. */
static __noinline struct part_event *begin_message(struct scratch *scratch, __u32 index)
{
	const struct syscall_event *event = &scratch->event;
	struct messages_walk *walk = &scratch->messages;
	struct part_event *part;
	struct message message;

	walk->length = 0;
	if (!read_indexed(walk->base, walk->compat, index, &message, &walk->length))
		return NULL;
	part = begin_part(scratch, index);
	if (!part)
		return NULL;
	part->result = walk->length;
	part->bytes = walk->length;
	part->fd = event->fd;
	part->handle_id = event->handle_id;
	part->open_flags = event->open_flags;
	part->event_class = event->event_class;
	part->operation = walk->operation;
	part->requested = vector_bytes(message.vector, message.parts, walk->compat);
	part->present |= PART_HAS_RESULT | PART_HAS_BYTES | PART_HAS_FD | PART_HAS_REQUESTED;
	if (event->present & SYSCALL_HAS_HANDLE)
		part->present |= PART_HAS_HANDLE | PART_HAS_OPEN_FLAGS;
	part->present |= walk->present;
	if (walk->has_stream) {
		part->stream_offset = walk->stream_offset + (walk->stays ? 0 : walk->sent);
		part->present |= PART_HAS_STREAM_OFFSET;
	}
	walk->sent += walk->length;
	walk->vector = message.vector;
	walk->parts = message.parts;
	walk->control = message.control;
	walk->control_bytes = message.control_bytes;
	attach_part_address(scratch, &message, index);
	return part;
}

LOOP_BODY(write_message)
{
	struct scratch *scratch = cpu_scratch();
	struct messages_walk *walk;
	struct part_event *part;

	if (!scratch)
		return 1;
	walk = &scratch->messages;
	part = begin_message(scratch, index);
	if (!part)
		return 1;
	if (looks_at_content())
		look_at_part(ref_of(scratch), walk->vector, walk->parts, walk->length, walk->compat);
	end_part(part);
	touch_passed(scratch, walk->control, walk->control_bytes, walk->compat);
	return 0;
}

/* Not inlined, for the stack. */
static __noinline int begin_messages(struct scratch *scratch)
{
	const struct syscall_event *event = &scratch->event;
	struct messages_walk *walk = &scratch->messages;
	bool inbound = shape_of(event->abi, event->syscall)->flags & CALL_INBOUND;

	walk->present = 0;
	walk->base = event->arguments[1];
	walk->count = event->result < MESSAGES_MAX ? event->result : MESSAGES_MAX;
	walk->compat = event->abi == ABI_COMPAT;
	if (walk->compat)
		walk->operation = inbound ? NUMBER_COMPAT_RECVMSG : NUMBER_COMPAT_SENDMSG;
	else
		walk->operation = inbound ? NUMBER_NATIVE_RECVMSG : NUMBER_NATIVE_SENDMSG;
	if (inbound && event->arguments[3] & MSG_PEEK)
		walk->present |= PART_HAS_PEEKS;
	if (inbound && event->arguments[3] & MSG_ERRQUEUE)
		walk->present |= PART_HAS_REPORTS_ERROR;
	walk->sent = 0;
	each_turn(walk->count, sum_message);
	walk->has_stream = find_stream_offset(ref_of(scratch), walk->sent, inbound, event->arguments[3]);
	walk->stream_offset = scratch->seen.stream_offset;
	walk->stays = walk->has_stream && inbound && event->arguments[3] & MSG_PEEK &&
		      READ(typed(sock, scratch->seen.sk), sk_peek_off) <= 0;
	walk->sent = 0;
	return 0;
}

static __always_inline void write_messages(struct scratch *scratch)
{
	each_turn(scratch->messages.count, write_message);
}

static __always_inline void follow_messages(struct scratch *scratch)
{
	if (scratch->event.result <= 0)
		return;
	begin_messages(scratch);
	write_messages(scratch);
}
