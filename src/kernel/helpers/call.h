/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes an event of a system call's registers: the generic handler that schema/syscalls.toml drives. A call's shape says
 * which register is a descriptor, a path, an offset; nothing here knows a call by its number.
 */
#pragma once

#include "kernel/helpers/task.h"
#include "kernel/helpers/object.h"
#include "kernel/machine.h"

#define ABI_SHIFT 16
#define VECTOR_PARTS_MAX 1024 /* UIO_MAXIOV */

#define SYSCALL_TABLE_SHIFT 55 /* leaves the bits of an index of all ones */
_Static_assert(SYSCALL_TABLE_SIZE == 1 << (64 - SYSCALL_TABLE_SHIFT), "a table of another size");

/* What the registers of each call mean, by its number: of native calls, of compat ones. */
const volatile struct syscall_shape syscall_shapes[2][SYSCALL_TABLE_SIZE] = { { SYSCALL_SHAPES_NATIVE },
									      { SYSCALL_SHAPES_COMPAT } };

/* An index without a branch, after each of which the verifier would go through all that depends on the shape. */
static __always_inline const volatile struct syscall_shape *shape_of(__u32 abi, __u32 number)
{
	__u64 over = number / SYSCALL_TABLE_SIZE; /* x32's own calls, from 512 on: they get the last shape, which is of no call */
	__u64 index = number | -over >> SYSCALL_TABLE_SHIFT;

	opaque(index);
	index &= SYSCALL_TABLE_SIZE - 1;
	opaque(abi);
	return &syscall_shapes[abi / ABI_COMPAT & 1][index]; /* of the abis of a machine only compat divides to 1 */
}

/*
 * Drops what is above the lower half of the arguments that the kernel reads no more of. Without a branch, which each call would pay for; and without a
 * number that is all ones or 0, with which new verifiers go both ways.
 */
static __always_inline void narrow_arguments(__u64 *arguments, const volatile struct syscall_shape *shape)
{
	__u64 whole = ~shape->narrow;

#pragma unroll
	for (int i = 0; i < 6; i++) {
		__u64 upper = (whole >> i & 1) << 32; /* what is less than 0xffffffff by it is all ones */

		opaque(upper);
		arguments[i] &= 0xffffffff - upper;
	}
}

/* Argument at a position of a shape, which counts from 1. */
static __always_inline __u64 argument(const struct syscall_event *event, __u8 position)
{
	__u32 index = (position - 1) & 7;

	return index < 6 ? event->arguments[index] : 0;
}

static __always_inline __u8 class_of(const volatile struct syscall_shape *shape, __u32 object_type)
{
	if (!(shape->flags & CALL_IS_IO))
		return shape->event_class;
	if (object_type == OBJECT_TYPE_SOCKET)
		return CLASS_NETWORK;
	return object_type == OBJECT_TYPE_PIPE ? CLASS_PIPE : CLASS_FILE;
}

/* Length of a program's text with its NUL, as long as there is room; less than 1: it cannot be read. Kernels before 6.16 tell an empty one as 0. */
static __always_inline long read_text(void *to, __u32 room, __u64 user)
{
	long length = bpf_probe_read_user_str(to, room, (void *)user);

	return length ? length : 1;
}

/* Where the next attachment of the event goes; NULL when there is no room for one of so many bytes. */
static __always_inline struct attachment_header *attachment_space(struct scratch *scratch, __u32 bytes)
{
	__u32 at = scratch->event.attachments;

	opaque(at);
	if (at > sizeof(scratch->event_attachments) - sizeof(struct attachment_header) - bytes)
		return NULL;
	return (void *)scratch->event_attachments + at;
}

/* Where the largest attachment would go. */
static __always_inline struct attachment_header *next_attachment(struct scratch *scratch)
{
	return attachment_space(scratch, PATH_BYTES_MAX);
}

static __always_inline void finish_attachment(struct scratch *scratch, struct attachment_header *header, __u16 kind, __u32 length)
{
	scratch->event.attachments += finish_header(header, kind, length);
}

LOOP_BODY(add_vector_part)
{
	struct scratch *scratch = cpu_scratch();
	struct vector_sum *sum;
	__u64 part[2] = {};
	__u32 part32[2] = {};

	if (!scratch)
		return 1;
	sum = &scratch->vector;
	if (sum->compat) {
		bpf_probe_read_user(part32, sizeof(part32), (void *)(sum->base + index * 8));
		sum->bytes += part32[1];
	} else {
		bpf_probe_read_user(part, sizeof(part), (void *)(sum->base + index * 16));
		sum->bytes += part[1];
	}
	return 0;
}

/* Bytes that the parts of an iovec ask for together. Global, so that the verifier looks at it once. */
__noinline __u64 vector_bytes(__u64 base, __u64 count, bool compat)
{
	struct scratch *scratch = cpu_scratch();
	__u64 part[2] = {};

	if (!scratch || count > VECTOR_PARTS_MAX)
		return 0;
	if (count == 1 && !compat) { /* as most have */
		bpf_probe_read_user(part, sizeof(part), (void *)base);
		return part[1];
	}
	scratch->vector = (struct vector_sum){ .base = base, .compat = compat };
	each_turn(count, add_vector_part);
	return scratch->vector.bytes;
}

/* What of a msghdr matters here. */
struct message {
	__u64 name;
	__u32 name_bytes;
	__u64 vector, parts;
	__u64 control, control_bytes;
};

static __always_inline bool read_message(struct message *message, __u64 user, bool compat)
{
	__u64 words[6] = {}; /* struct user_msghdr */
	__u32 words32[6] = {}; /* struct compat_msghdr */

	if (compat) {
		if (bpf_probe_read_user(words32, sizeof(words32), (void *)user))
			return false;
		*message = (struct message){ words32[0], words32[1], words32[2], words32[3], words32[4], words32[5] };
	} else {
		if (bpf_probe_read_user(words, sizeof(words), (void *)user))
			return false;
		*message = (struct message){ words[0], words[1], words[2], words[3], words[4], words[5] };
	}
	return true;
}

static __always_inline void fill_requested(struct scratch *scratch, const volatile struct syscall_shape *shape, bool compat)
{
	struct syscall_event *event = &scratch->event;
	__u8 vector = shape->vector;
	struct message message;

	if (shape->size)
		event->requested = argument(event, shape->size);
	else if (vector && argument(event, vector + 1) > VECTOR_PARTS_MAX) /* nobody has added them up */
		return;
	else if (vector)
		event->requested = vector_bytes(argument(event, vector), argument(event, vector + 1), compat);
	else if (shape->message && read_message(&message, argument(event, shape->message), compat))
		event->requested = vector_bytes(message.vector, message.parts, compat);
	else
		return;
	event->present |= SYSCALL_HAS_REQUESTED;
}

static __always_inline void attach_address(struct scratch *scratch, __u64 user, __u32 length)
{
	struct attachment_header *header = next_attachment(scratch);

	if (!header || !user || length < 2)
		return;
	if (length > ADDRESS_BYTES_MAX)
		length = ADDRESS_BYTES_MAX;
	opaque(length); /* what was compared may be another register, of which 6.1 does not know that it is the same */
	if (length > ADDRESS_BYTES_MAX)
		return;
	if (bpf_probe_read_user(header + 1, length, (void *)user))
		return;
	if (filter_loaded)
		tell_filter_of_address(scratch, (__u8 *)(header + 1), length);
	finish_attachment(scratch, header, ATTACHMENT_ADDRESS, length);
}

/* Of an address that did not fit: for people, what was written; whoever compares addresses is told none. */
static __always_inline __u32 cut_address(__u32 room)
{
	return preview_bytes ? room : 0;
}

/*
 * What the call may fill with an address, which only its entry tells: the kernel cuts what does not fit, and says how long it was all
 * the same. What comes after is the program's own memory.
 */
static __noinline int address_room(const __u64 *arguments, __u32 abi, __u32 number)
{
	const volatile struct syscall_shape *shape = shape_of(abi, number);
	__u32 index = shape->address & 7;
	struct message message;
	__u32 room = 0;

	if (!arguments)
		return 0;
	if (shape->address) {
		if (index < 6)
			bpf_probe_read_user(&room, sizeof(room), (void *)arguments[index]);
	} else if (shape->message) {
		index = (shape->message - 1) & 7;
		if (index < 6 && read_message(&message, arguments[index], abi == ABI_COMPAT) && message.name)
			room = message.name_bytes;
	}
	return room > ADDRESS_BYTES_MAX ? ADDRESS_BYTES_MAX : room;
}

/* Attaches the address that a message names: in the call, or in its msghdr. */
static __always_inline void fill_address(struct scratch *scratch, const struct task_state *state,
					 const volatile struct syscall_shape *shape, bool compat)
{
	struct syscall_event *event = &scratch->event;
	bool out = shape->flags & CALL_INBOUND;
	struct message message;
	__u64 name = 0;
	__u32 length = 0;

	if (shape->address) {
		__u64 length_argument = argument(event, shape->address + 1);

		name = argument(event, shape->address);
		if (out && name)
			bpf_probe_read_user(&length, sizeof(length), (void *)length_argument);
		else
			length = length_argument;
	} else if (shape->message && read_message(&message, argument(event, shape->message), compat)) {
		name = message.name;
		length = message.name_bytes;
	}
	if (out && length > state->address_room)
		length = cut_address(state->address_room);
	if (name && !(out && event->result < 0))
		attach_address(scratch, name, length);
}
