/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Behind sendmmsg and recvmmsg: a part per message, with its own bytes and address. Behind every call with messages: the
 * descriptors that travel in them (SCM_RIGHTS).
 *
 *   msgvec   | msghdr | msg_len |  msghdr | msg_len | …
 *                 └─► control   | cmsghdr | fd fd fd |  cmsghdr | …
 */
#include "kernel/children.h"
#include "kernel/content.h"
#include "kernel/offset.h"

#define MESSAGES_MAX 1024 /* UIO_MAXIOV, which the kernel cuts vlen to */
#define CONTROL_STEPS_MAX 512 /* 253 descriptors (SCM_MAX_FD), and headers between them */

struct control_walk {
	__u64 next; /* header */
	__u64 end;
	__u64 fd; /* present one */
	__u64 fds_end;
	bool compat;
};

/* Reads one header, or one descriptor of the present one. */
static long control_step(__u32 index, void *context)
{
	struct control_walk *walk = context;
	struct scratch *scratch = cpu_scratch();
	__u64 header[2] = {}, length;
	__u32 size = walk->compat ? 12 : 16, align = walk->compat ? 3 : 7;
	__s32 fd = -1;

	if (!scratch)
		return 1;
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

static __always_inline void touch_passed(const struct message *message, bool compat)
{
	struct control_walk walk = { .next = message->control,
				     .end = message->control + message->control_bytes,
				     .compat = compat };

	if (message->control && message->control_bytes)
		bpf_loop(CONTROL_STEPS_MAX, control_step, &walk, 0);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(follow_message, struct pt_regs *regs, long result)
{
	struct scratch *scratch = cpu_scratch();
	struct message message;
	bool compat;

	if (!scratch || scratch->event.result < 0)
		return 0;
	compat = scratch->event.abi == ABI_I386;
	if (read_message(&message, scratch->event.arguments[1], compat))
		touch_passed(&message, compat);
	return 0;
}

struct messages_walk {
	__u64 base;
	__u64 sent; /* bytes of those before the present one */
	__u64 stream_offset; /* of the first */
	__u16 operation;
	bool compat, has_stream;
};

static __always_inline bool read_indexed(struct messages_walk *walk, __u32 index, struct message *message, __u32 *length)
{
	__u64 at = walk->base + index * (walk->compat ? 32 : 64);

	return read_message(message, at, walk->compat) &&
	       bpf_probe_read_user(length, sizeof(*length), (void *)(at + (walk->compat ? 28 : 56))) == 0;
}

static long sum_message(__u32 index, void *context)
{
	struct messages_walk *walk = context;
	struct message message;
	__u32 length = 0;

	if (!read_indexed(walk, index, &message, &length))
		return 1;
	walk->sent += length;
	return 0;
}

static __always_inline void attach_part_address(struct scratch *scratch, const struct message *message)
{
	struct attachment_header *header = (void *)scratch->part_attachments;
	__u32 length = message->name_bytes;

	if (!message->name || length < 2)
		return;
	opaque(length);
	if (length > ADDRESS_BYTES_MAX)
		length = ADDRESS_BYTES_MAX;
	if (bpf_probe_read_user(header + 1, length, (void *)message->name))
		return;
	header->kind = ATTACHMENT_ADDRESS;
	header->length = length;
	header->reserved = 0;
	scratch->part.attachments = sizeof(*header) + padded(length);
}

static long write_message(__u32 index, void *context)
{
	struct messages_walk *walk = context;
	struct scratch *scratch = cpu_scratch();
	const struct syscall_event *event;
	struct message message;
	struct part_event *part;
	__u32 length = 0;

	if (!scratch || !read_indexed(walk, index, &message, &length))
		return 1;
	event = &scratch->event;
	part = begin_part(scratch, index);
	part->result = length;
	part->bytes = length;
	part->fd = event->fd;
	part->handle_id = event->handle_id;
	part->open_flags = event->open_flags;
	part->event_class = event->event_class;
	part->operation = walk->operation;
	part->requested = vector_bytes(message.vector, message.parts, walk->compat);
	part->present |= PART_HAS_RESULT | PART_HAS_BYTES | PART_HAS_FD | PART_HAS_REQUESTED;
	if (event->present & SYSCALL_HAS_HANDLE)
		part->present |= PART_HAS_HANDLE | PART_HAS_OPEN_FLAGS;
	if (walk->has_stream) {
		part->stream_offset = walk->stream_offset + walk->sent;
		part->present |= PART_HAS_STREAM_OFFSET;
	}
	walk->sent += length;
	attach_part_address(scratch, &message);
	if (looks_at_content())
		look_at_part(scratch, message.vector, message.parts, length, walk->compat);
	end_part(scratch);
	touch_passed(&message, walk->compat);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(follow_messages, struct pt_regs *regs, long result)
{
	struct scratch *scratch = cpu_scratch();
	struct messages_walk walk = {};
	const struct syscall_event *event;
	__u32 count;
	bool inbound;

	if (!scratch || scratch->event.result <= 0)
		return 0;
	event = &scratch->event;
	inbound = shape_of(event->abi, event->syscall)->flags & CALL_INBOUND;
	walk.base = event->arguments[1];
	count = event->result < MESSAGES_MAX ? event->result : MESSAGES_MAX;
	walk.compat = event->abi == ABI_I386;
	if (walk.compat)
		walk.operation = inbound ? NUMBER_I386_RECVMSG : NUMBER_I386_SENDMSG;
	else
		walk.operation = inbound ? NUMBER_X86_64_RECVMSG : NUMBER_X86_64_SENDMSG;
	bpf_loop(count, sum_message, &walk, 0);
	walk.has_stream = find_stream_offset(scratch, walk.sent, inbound, event->arguments[3], &walk.stream_offset);
	walk.sent = 0;
	bpf_loop(count, write_message, &walk, 0);
	return 0;
}
