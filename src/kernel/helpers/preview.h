/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What lies behind the pointers of a call, for people who watch it live (`dyetrace trace`): the first bytes of buffers, and
 * small structures. Off, and gone from the program, unless preview_bytes is set.
 *
 *   attachment `preview` or `structure`:  | u8 argument | 7 bytes of 0 | content … |
 *
 * What a call writes over (the sets of select, a time that is left) comes twice: as it was at entry, with the argument, and as
 * it was at exit, with PREVIEW_AFTER in it. What a structure points to comes after it with PREVIEW_CONTROL. Of several messages
 * each has its number in the argument, see schema/shared/preview.h.
 */
#pragma once

#include "kernel/helpers/call.h"
#include "schema/shared/preview.h"

#define PREVIEW_PARTS_MAX                                                                                                        \
	(PREVIEW_BYTES_MAX - 64) /* bytes of all parts of a vector before the last one that is shown; room for a path holds all */
#define PREVIEW_EVENTS_MAX 32 /* members of a poll set */
#define PREVIEW_TEXTS_MAX 32 /* arguments of a program that are shown */
#define TEXTS_MAX 4096 /* of a list that are counted */
#define PREVIEW_OPTION_MAX 64 /* bytes of a socket option */
#define PREVIEW_CPUS_MAX 128 /* bytes of a set of CPUs */
#define PREVIEW_HOW_MAX 64 /* bytes of openat2's structure */
#define PREVIEW_MESSAGES_MAX 4 /* of sendmmsg and recvmmsg; PREVIEW_MESSAGE_SHIFT has room for 8 */
#define PREVIEW_PAGE_BYTES 4096 /* what comes after the end of a page may be no memory */
#define PREVIEW_MESSAGE_BYTES 56 /* struct user_msghdr, before its vector */
#define PREVIEW_CONTROL_MAX 256 /* bytes of a message's control data */

struct preview {
	struct attachment_header *header;
	__u8 *content;
};

static __always_inline bool begin_preview(struct scratch *scratch, __u32 argument, struct preview *preview)
{
	preview->header = next_attachment(scratch);
	if (!preview->header)
		return false;
	preview->content = (__u8 *)(preview->header + 1);
	*(__u64 *)preview->content = argument;
	preview->content += 8;
	return true;
}

static __always_inline bool attach_user_bytes(struct scratch *scratch, __u32 index, __u64 user, __u32 length, __u16 kind)
{
	struct preview preview;

	opaque(length);
	if (!user || !begin_preview(scratch, index, &preview))
		return false;
	if (length > PREVIEW_BYTES_MAX)
		length = PREVIEW_BYTES_MAX;
	if (bpf_probe_read_user(preview.content, length, (void *)user))
		return false;
	finish_attachment(scratch, preview.header, kind, length + 8);
	return true;
}

/* An array, or as much of it as there is before the memory ends. */
static __always_inline void attach_user_items(struct scratch *scratch, __u32 index, __u64 user, __u32 length, __u32 item)
{
	__u32 before_end = PREVIEW_PAGE_BYTES - (user & (PREVIEW_PAGE_BYTES - 1));

	if (!attach_user_bytes(scratch, index, user, length, ATTACHMENT_STRUCTURE) && before_end < length)
		attach_user_bytes(scratch, index, user, before_end - before_end % item, ATTACHMENT_STRUCTURE);
}

static __always_inline void attach_user_text(struct scratch *scratch, __u32 index, __u64 user)
{
	struct preview preview;
	long length;

	if (!user || !begin_preview(scratch, index, &preview))
		return;
	length = read_text(preview.content, PREVIEW_BYTES_MAX, user);
	if (length > 0)
		finish_attachment(scratch, preview.header, ATTACHMENT_PREVIEW, 8 + (length - 1));
}

LOOP_BODY(attach_part)
{
	struct scratch *scratch = cpu_scratch();
	struct part_walk *walk;
	struct preview preview;
	__u64 part[2], held;
	__u32 at, length;

	if (!scratch)
		return 1;
	walk = &scratch->parts;
	at = walk->filled;
	opaque(at);
	if (!walk->left || at >= PREVIEW_PARTS_MAX ||
	    bpf_probe_read_user(part, sizeof(part), (void *)(walk->vector + index * sizeof(part))) ||
	    !begin_preview(scratch, 0, &preview))
		return 1;
	held = part[1] < walk->left ? part[1] : walk->left;
	walk->left -= held;
	length = held < preview_bytes ? held : preview_bytes;
	opaque(length);
	if (length > PREVIEW_BYTES_MAX ||
	    bpf_probe_read_user(preview.content + PREVIEW_LENGTHS_BYTES + at, length, (void *)part[0]))
		return 0;
	((__u16 *)preview.content)[index & (PREVIEW_VECTORS_MAX - 1)] = length;
	walk->filled = at + length;
	return 0;
}

/*
 * The first bytes of each part: how many there are of each, then these, one part after the other. Of a part that cannot be read
 * there are none. Global, as attach_preview is.
 */
__noinline int attach_parts(scratch_ref ref, __u32 index, __u64 vector, __u64 count, __u64 moved)
{
	struct scratch *scratch = scratch_of(ref);
	struct preview preview;

	if (!scratch || !begin_preview(scratch, index, &preview))
		return 0;
	__builtin_memset(preview.content, 0, PREVIEW_LENGTHS_BYTES);
	scratch->parts = (struct part_walk){ .vector = vector, .left = moved };
	each_turn(count < PREVIEW_VECTORS_MAX ? count : PREVIEW_VECTORS_MAX, attach_part);
	if (scratch->parts.filled && begin_preview(scratch, index, &preview))
		finish_attachment(scratch, preview.header, ATTACHMENT_PREVIEW, 8 + PREVIEW_LENGTHS_BYTES + scratch->parts.filled);
	return 0;
}

static __always_inline void attach_vector(struct scratch *scratch, __u32 index, __u64 vector, __u64 count, __u64 moved)
{
	if (count > PREVIEW_VECTORS_MAX)
		count = PREVIEW_VECTORS_MAX;
	attach_user_items(scratch, index, vector, count * 16, 16);
	attach_parts(ref_of(scratch), index, vector, count, moved);
}

/*
 * A msghdr with its iovec after it, and the bytes that they hold; of one of several messages as much of its name as there was
 * room for. Global, as attach_preview is.
 */
__noinline int attach_message(scratch_ref ref, __u32 index, __u64 user, __u64 moved, __u32 room)
{
	struct scratch *scratch = scratch_of(ref);
	__u64 message[7] = {}; /* struct user_msghdr; iov and iovlen at 2 and 3 */
	struct preview preview;
	__u32 count;

	if (!scratch || !user || bpf_probe_read_user(message, sizeof(message), (void *)user) ||
	    !begin_preview(scratch, index, &preview))
		return 0;
	count = message[3] < PREVIEW_VECTORS_MAX ? message[3] : PREVIEW_VECTORS_MAX;
	opaque(count);
	if (count > PREVIEW_VECTORS_MAX)
		return 0;
	__builtin_memcpy(preview.content, message, sizeof(message));
	if (bpf_probe_read_user(preview.content + sizeof(message), count * 16, (void *)message[2]) == 0)
		finish_attachment(scratch, preview.header, ATTACHMENT_STRUCTURE, 8 + sizeof(message) + count * 16);
	attach_parts(ref_of(scratch), index, message[2], count, moved);
	attach_user_bytes(scratch, index | PREVIEW_CONTROL, message[4],
			  message[5] < PREVIEW_CONTROL_MAX ? message[5] : PREVIEW_CONTROL_MAX, ATTACHMENT_STRUCTURE);
	if (room) /* the first message's name, too, is none of the event */
		attach_user_bytes(scratch, index | PREVIEW_AFTER, message[0], (__u32)message[1] < room ? (__u32)message[1] : room,
				  ATTACHMENT_STRUCTURE);
	return 0;
}

/* What sendmmsg and recvmmsg are given: structures of 64 bytes, a msghdr and how many bytes of it were moved. */
static __always_inline void attach_messages(struct scratch *scratch, __u32 index, __u64 user, __u64 count, __u64 done)
{
	bool inbound = shape_of(scratch->event.abi, scratch->event.syscall)->flags & CALL_INBOUND;
	__u64 key = number_of(scratch, current_task());
	struct address_rooms *rooms = inbound ? bpf_map_lookup_elem(&address_rooms, &key) : NULL;

	for (__u32 i = 0; i < PREVIEW_MESSAGES_MAX; i++) {
		__u64 message = user + i * 64ull;
		__u32 room = rooms ? rooms->bytes[i] : inbound ? 0 : ADDRESS_BYTES_MAX;
		__u32 moved = inbound ? 0 : ~0u, tag = index | (i + 1) << PREVIEW_MESSAGE_SHIFT;

		if (i >= count)
			break;
		if (i < done && bpf_probe_read_user(&moved, sizeof(moved), (void *)(message + PREVIEW_MESSAGE_BYTES)) == 0)
			attach_user_bytes(scratch, tag | PREVIEW_AFTER | PREVIEW_CONTROL, message + PREVIEW_MESSAGE_BYTES, 4,
					  ATTACHMENT_STRUCTURE);
		attach_message(ref_of(scratch), tag, message, moved, room);
	}
}

static __always_inline __u32 fd_set_bytes(__u32 descriptors)
{
	__u32 words = (descriptors + 63) / 64;

	return (words < SELECT_WORDS ? words : SELECT_WORDS) * 8;
}

/* sys_enter: what the call is going to write over. */
__noinline int keep_entry_value(scratch_ref ref, state_ref of, __u32 index)
{
	struct scratch *scratch = scratch_of(ref);
	struct task_state *state = state_behind(of);
	const volatile struct syscall_shape *shape;
	struct entry_values *values;
	__u32 length;
	__u8 kind;

	if (!scratch || !state || index >= 6)
		return 0;
	shape = shape_of(state->syscall >> ABI_SHIFT, state->syscall & NUMBER_MAX);
	values = &scratch->entry_values;
	values->length[index] = 0;
	if (!(shape->before >> index & 1))
		return 0;
	kind = shape->capture[index];
	if (kind == CAPTURE_REPLACED) { /* dup2: what its second descriptor was before */
		see_file(scratch, file_of(current_task(), state->arguments[index]), 0);
		values->replaced = scratch->seen.handle_id;
		return 0;
	}
	length = kind > CAPTURE_FIXED	   ? (kind - CAPTURE_FIXED) * 4
		 : kind == CAPTURE_MESSAGE ? PREVIEW_MESSAGE_BYTES
					   : fd_set_bytes(state->arguments[0]);
	opaque(length);
	if (length > ENTRY_VALUE_BYTES_MAX || !state->arguments[index])
		return 0;
	if (bpf_probe_read_user(values->bytes[index], length, (void *)state->arguments[index]) == 0)
		values->length[index] = length;
	return 0;
}

static __always_inline void keep_entry_values(struct task_state *state, const volatile struct syscall_shape *shape)
{
	struct scratch *scratch = cpu_scratch();
	__u64 key;

	if (!scratch || !shape->before)
		return;
	scratch->entry_values.replaced = 0;
	for (__u32 index = 0; index < 6; index++)
		keep_entry_value(ref_of(scratch), state_ref_of(state), index);
	key = number_of(scratch, current_task());
	bpf_map_update_elem(&entry_values, &key, &scratch->entry_values, BPF_ANY);
}

__noinline int attach_entry_value(scratch_ref ref, __u32 index)
{
	struct scratch *scratch = scratch_of(ref);
	struct entry_values *values;
	struct preview preview;
	__u32 length;
	__u64 key;

	if (!scratch || index >= 6 || scratch->event.present & SYSCALL_HAS_ENTRY_MISSED)
		return 0;
	key = number_of(scratch, current_task());
	values = bpf_map_lookup_elem(&entry_values, &key);
	if (!values)
		return 0;
	if (shape_of(scratch->event.abi, scratch->event.syscall)->capture[index] == CAPTURE_REPLACED) {
		scratch->event.handle2_id = values->replaced;
		scratch->event.present &= ~SYSCALL_HAS_HANDLE2; /* recordings have the object of both descriptors there */
		scratch->event.present |= values->replaced ? SYSCALL_HAS_HANDLE2 : 0;
		return 0;
	}
	length = values->length[index];
	opaque(length);
	if (!length || length > ENTRY_VALUE_BYTES_MAX || !begin_preview(scratch, index, &preview))
		return 0;
	if (bpf_probe_read_kernel(preview.content, length, values->bytes[index]) == 0)
		finish_attachment(scratch, preview.header, ATTACHMENT_STRUCTURE, length + 8);
	return 0;
}

/* enum syscall_capture of the argument that follows a command. */
static __always_inline __u8 chosen_capture(const struct syscall_event *event, __u32 index)
{
	switch ((__u64)event->syscall << 32 | (__u32)argument(event, index)) {
		CHOSEN_CAPTURES
	default:
		return CAPTURE_NONE;
	}
}

static __always_inline void attach_option(struct scratch *scratch, __u32 index, __u64 user, __u32 length)
{
	attach_user_items(scratch, index, user, length < PREVIEW_OPTION_MAX ? length : PREVIEW_OPTION_MAX, 4);
}

LOOP_BODY(attach_list_text)
{
	struct scratch *scratch = cpu_scratch();
	struct text_walk *walk;
	struct preview preview;
	__u64 text = 0;
	long length;
	__u32 at;

	if (!scratch)
		return 1;
	walk = &scratch->texts;
	at = walk->filled;
	opaque(at);
	if (bpf_probe_read_user(&text, sizeof(text), (void *)(walk->list + index * 8ull)) || !text)
		return 1;
	walk->count = index + 1;
	if (walk->counts_only || index >= PREVIEW_TEXTS_MAX || at > PREVIEW_BYTES_MAX || !begin_preview(scratch, 0, &preview))
		return 0;
	length = read_text(preview.content + 8 + at, preview_bytes < NAME_BYTES_MAX ? preview_bytes + 1 : NAME_BYTES_MAX, text);
	if (length > 0)
		walk->filled = at + length;
	return 0;
}

/* Count (8 bytes), and the first strings with their NUL: of execve's new stack, or of what it was given where it failed. */
static __always_inline void attach_texts(struct scratch *scratch, __u32 index, bool environment)
{
	const struct syscall_event *event = &scratch->event;
	struct text_walk *walk = &scratch->texts;
	struct preview preview;
	__u64 count = 0;

	*walk = (struct text_walk){ .list = event->arguments[index], .counts_only = environment };
	if (event->result >= 0) { /* argc, argv …, NULL, envp …, NULL */
		walk->list = stack_in(registers_of(this_task())) + 8;
		bpf_probe_read_user(&count, sizeof(count), (void *)(walk->list - 8));
		if (!count || count > 0x7fffffff) /* a 32-bit program */
			return;
		if (environment)
			walk->list += (count + 1) * 8;
	}
	if (!walk->list)
		return;
	each_turn(TEXTS_MAX, attach_list_text);
	if (!begin_preview(scratch, index, &preview))
		return;
	*(__u64 *)preview.content = walk->count;
	finish_attachment(scratch, preview.header, ATTACHMENT_STRUCTURE, 16 + walk->filled);
}

/* Bytes that the call took from or put into the buffer at this argument; what it was to take where it failed. */
static __always_inline __u32 buffer_bytes(const struct syscall_event *event, const volatile struct syscall_shape *shape)
{
	__u64 moved = event->present & SYSCALL_HAS_BYTES ? event->bytes : event->result;

	if (event->result >= 0) {
		if (shape->size && moved > event->requested) /* MSG_TRUNC returns more than there was room for */
			moved = event->requested;
		return moved < preview_bytes ? moved : preview_bytes;
	}
	if (shape->flags & CALL_INBOUND || !shape->size)
		return 0;
	return event->requested < preview_bytes ? event->requested : preview_bytes;
}

/* Global, so that the verifier looks at it once and not once per way that leads here. */
__noinline int attach_preview(scratch_ref ref, __u32 index)
{
	struct scratch *scratch = scratch_of(ref);
	const volatile struct syscall_shape *shape;
	struct syscall_event *event;
	__u64 user, count, returned;
	__u32 tag = index, length = 0;
	__u8 kind;

	if (!scratch || index >= 6)
		return 0;
	event = &scratch->event;
	shape = shape_of(event->abi, event->syscall);
	returned = event->result > 0 ? event->result : 0;
	opaque(index);
	index &= 7; /* again, as it may have been on the stack, where a kernel before 5.13 forgets what it knows of a number */
	kind = shape->capture[index];
	user = event->arguments[index];
	count = index < 5 ? event->arguments[index + 1] : 0;
	if (shape->before >> index & 1) {
		attach_entry_value(ref_of(scratch), index);
		tag |= PREVIEW_AFTER;
	}
	if (kind == CAPTURE_BY_COMMAND)
		kind = chosen_capture(event, index);
	if (kind > CAPTURE_FIXED) {
		attach_user_bytes(scratch, tag, user, (kind - CAPTURE_FIXED) * 4, ATTACHMENT_STRUCTURE);
		return 0;
	}
	switch (kind) {
	case CAPTURE_BYTES:
		attach_user_bytes(scratch, index, user, buffer_bytes(event, shape), ATTACHMENT_PREVIEW);
		break;
	case CAPTURE_TEXT:
		attach_user_text(scratch, index, user);
		break;
	case CAPTURE_TEXT_OUT: /* of no room at all the call says how much it would need */
		if (count)
			attach_user_bytes(scratch, index, user, returned < count ? returned : count, ATTACHMENT_PREVIEW);
		break;
	case CAPTURE_CPU_SET_OUT:
		attach_user_bytes(scratch, index, user, returned, ATTACHMENT_PREVIEW);
		break;
	case CAPTURE_POLL_SET:
		attach_user_items(scratch, index, user, (count < PREVIEW_EVENTS_MAX ? count : PREVIEW_EVENTS_MAX) * 8, 8);
		break;
	case CAPTURE_OPEN_HOW:
		if (!attach_user_bytes(scratch, index, user, count < PREVIEW_HOW_MAX ? count : PREVIEW_HOW_MAX,
				       ATTACHMENT_STRUCTURE))
			attach_user_bytes(scratch, index, user, 24, ATTACHMENT_STRUCTURE); /* OPEN_HOW_SIZE_VER0 */
		break;
	case CAPTURE_DIRENTS:
		attach_user_bytes(scratch, index, user, returned < PREVIEW_BYTES_MAX ? returned : PREVIEW_BYTES_MAX,
				  ATTACHMENT_STRUCTURE);
		break;
	case CAPTURE_MASK: /* pselect6, io_pgetevents: address of a set of signals, and its size */
		if (attach_user_bytes(scratch, index, user, 16, ATTACHMENT_STRUCTURE) &&
		    bpf_probe_read_user(&count, sizeof(count), (void *)user) == 0)
			attach_user_bytes(scratch, index | PREVIEW_CONTROL, count, 8, ATTACHMENT_STRUCTURE);
		break;
	case CAPTURE_MESSAGES:
		attach_messages(scratch, index, user, count, returned);
		break;
	case CAPTURE_EPOLL_EVENTS:
		attach_user_bytes(scratch, index, user,
				  (returned < PREVIEW_EVENTS_MAX ? returned : PREVIEW_EVENTS_MAX) * sizeof(struct epoll_member),
				  ATTACHMENT_STRUCTURE);
		break;
	case CAPTURE_VECTOR:
		attach_vector(scratch, index, user, count,
			      event->result >= 0	    ? event->result
			      : shape->flags & CALL_INBOUND ? 0
							    : ~0ull);
		break;
	case CAPTURE_TEXT_LIST:
		attach_texts(scratch, index, false);
		break;
	case CAPTURE_ENVIRONMENT:
		attach_texts(scratch, index, true);
		break;
	case CAPTURE_MESSAGE:
		attach_message(ref_of(scratch), tag, user,
			       event->result >= 0	     ? event->result
			       : shape->flags & CALL_INBOUND ? 0
							     : ~0ull,
			       0);
		break;
	case CAPTURE_VALUE_IN:
		attach_user_bytes(scratch, index, user, count < preview_bytes ? count : preview_bytes, ATTACHMENT_PREVIEW);
		break;
	case CAPTURE_OPTION_IN:
		attach_option(scratch, index, user, count);
		break;
	case CAPTURE_OPTION_OUT:
		if (event->result >= 0 && bpf_probe_read_user(&length, sizeof(length), (void *)count) == 0)
			attach_option(scratch, index, user, length);
		break;
	case CAPTURE_FD_SET:
		attach_user_bytes(scratch, tag, user, fd_set_bytes(event->arguments[0]), ATTACHMENT_STRUCTURE);
		break;
	case CAPTURE_CPU_SET_IN:
		count = index ? argument(event, index) : 0;
		attach_user_bytes(scratch, index, user, count < PREVIEW_CPUS_MAX ? count : PREVIEW_CPUS_MAX, ATTACHMENT_PREVIEW);
		break;
	}
	return 0;
}

static __always_inline void attach_previews(struct scratch *scratch, const volatile struct syscall_shape *shape)
{
	for (__u32 index = 0; index < 6; index++)
		if (shape->capture[index])
			attach_preview(ref_of(scratch), index);
}
