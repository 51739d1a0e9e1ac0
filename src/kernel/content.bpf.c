/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fingerprint of all bytes that a call moved: XXH64, and with a key SipHash of that (docs/content.md).
 *
 *   iovecs in user memory ──copy──► room of this CPU ──256 bytes a step──► four lanes ──► attachment `content`
 *          65,280 at a time
 *
 * Of sendfile, splice and copy_file_range it is the pages of a file that are copied. Read at the exit, when both directions lie in
 * memory. What does not, or is changed meanwhile by another thread, is as the
 * program could have seen it; what cannot be read without a fault is counted.
 *
 * Limits: 2 GiB of a call, more than the kernel moves in one.
 */
#include "kernel/call.h"
#include "kernel/content.h"
#include "kernel/edges.h"
#include "kernel/pages.h"
#include "kernel/room.h"
#include "kernel/xxh64.h"
#include "kernel/payload.h"
#include "schema/keyed.h"

#define STEPS_MAX (1 << 23) /* what bpf_loop allows; of 256 bytes */

static __always_inline void take_step(struct content_room *room)
{
	const __u8 *from = room->bytes + (room->at & ROOM_MASK);
	__u64 lanes[4] = { room->lanes[0], room->lanes[1], room->lanes[2], room->lanes[3] };

	for (int stripe = 0; stripe < STEP_BYTES / STRIPE_BYTES; stripe++)
		take_stripe(lanes, from + stripe * STRIPE_BYTES);
	room->lanes[0] = lanes[0];
	room->lanes[1] = lanes[1];
	room->lanes[2] = lanes[2];
	room->lanes[3] = lanes[3];
	room->at += STEP_BYTES;
}

/* False: there is none. */
static __always_inline bool next_piece(struct content_room *room)
{
	__u64 part[2] = {};
	__u32 part32[2] = {};
	long failed;

	if (!room->parts)
		return false;
	room->parts--;
	if (room->compat) {
		failed = bpf_probe_read_user(part32, sizeof(part32), (void *)room->vector);
		part[0] = part32[0];
		part[1] = part32[1];
		room->vector += sizeof(part32);
	} else {
		failed = bpf_probe_read_user(part, sizeof(part), (void *)room->vector);
		room->vector += sizeof(part);
	}
	room->piece = part[0];
	room->piece_bytes = part[1];
	return !failed;
}

static __always_inline __u32 piece_to_copy(const struct content_room *room, __u32 most)
{
	__u32 wanted = most;

	if (wanted > room->piece_bytes)
		wanted = room->piece_bytes;
	if (wanted > room->left)
		wanted = room->left;
	return wanted;
}

static __always_inline void end_piece(struct content_room *room, __u32 bytes)
{
	room->piece += bytes;
	room->piece_bytes -= bytes;
	room->left -= bytes;
}

static __always_inline void take_copied(struct content_room *room, __u32 filled, __u32 bytes)
{
	if (content_level == CONTENT_LEVEL_BYTES)
		emit_payload(room->bytes + filled, bytes, room->wanted - room->left);
	room->filled = filled + bytes;
	room->total += bytes;
	end_piece(room, bytes);
}

static __always_inline void skip_unread(struct content_room *room, __u32 filled, __u32 bytes)
{
	if (keeps_neighbours())
		break_room(room, filled, bytes);
	room->unread += bytes;
	end_piece(room, bytes);
}

static __always_inline void copy_page(struct content_room *room)
{
	__u32 filled = room->filled & (STEP_BYTES - 1);
	__u32 wanted = piece_to_copy(room, PAGE_BYTES - (room->piece & (PAGE_BYTES - 1)));

	opaque(wanted);
	if (wanted > PAGE_BYTES)
		return;
	if (read_page(room->bytes + filled, wanted, room->mapping, room->piece)) {
		take_copied(room, filled, wanted);
	} else {
		skip_unread(room, filled, wanted);
	}
}

/* What is not resident is found page by page. */
static __always_inline void copy_piece(struct content_room *room)
{
	__u32 filled = room->filled & (STEP_BYTES - 1), wanted = piece_to_copy(room, ROOM_BYTES - STEP_BYTES), to_page_end;

	opaque(wanted);
	if (wanted > ROOM_BYTES - STEP_BYTES)
		return;
	if (bpf_probe_read_user(room->bytes + filled, wanted, (void *)room->piece)) {
		to_page_end = PAGE_BYTES - (room->piece & (PAGE_BYTES - 1));
		if (wanted > to_page_end)
			wanted = to_page_end;
		opaque(wanted);
		if (wanted > PAGE_BYTES)
			return;
		if (bpf_probe_read_user(room->bytes + filled, wanted, (void *)room->piece)) {
			skip_unread(room, filled, wanted);
			return;
		}
	}
	take_copied(room, filled, wanted);
}

/* 256 bytes, or when there are fewer in the room, more bytes for it. */
static long content_step(__u32 index, void *context)
{
	struct content_room *room = cpu_room();
	__u32 rest;

	if (!room)
		return 1;
	if (room->filled - room->at >= STEP_BYTES && room->filled > room->at) {
		if (look_for_dyes)
			look_for_dyes_before(&room->dyes, room->before + (BEFORE_BYTES - STEP_BYTES) + (room->at & ROOM_MASK),
					     room->at);
		if (content_level >= CONTENT_LEVEL_ANCHORS)
			look_for_anchors(&room->anchors, room->bytes + (room->at & ROOM_MASK), room->at);
		if (content_level)
			take_step(room);
		else
			room->at += STEP_BYTES;
		return 0;
	}
	if (!room->left || (!room->piece_bytes && !next_piece(room)))
		return 1;
	if (room->at) { /* at least a step: they do not overlap */
		rest = room->filled - room->at;
		opaque(rest);
		if (keeps_neighbours())
			move_room(room, room->at);
		bpf_probe_read_kernel(room->bytes, rest & (STEP_BYTES - 1), room->bytes + (room->at & ROOM_MASK));
		room->filled = rest & (STEP_BYTES - 1);
		room->at = 0;
	}
	if (room->mapping)
		copy_page(room);
	else
		copy_piece(room);
	return 0;
}

static __always_inline void begin_content(struct content_room *room, __u64 bytes)
{
	room->wanted = bytes;
	begin_lanes(room->lanes);
	room->total = 0;
	room->left = bytes;
	room->unread = 0;
	room->parts = 0;
	room->vector = 0;
	room->piece = 0;
	room->piece_bytes = 0;
	room->mapping = 0;
	room->at = 0;
	room->filled = 0;
	room->compat = false;
	room->base = 0;
	room->known_from = 0;
	room->moved = false;
	if (look_for_dyes)
		begin_dyes(&room->dyes);
	if (content_level >= CONTENT_LEVEL_ANCHORS)
		begin_anchors(&room->anchors);
}

/* The last bytes, fewer than a step. */
static __always_inline __u64 end_content(struct content_room *room)
{
	__u32 at = room->at & ROOM_MASK, end = room->filled;
	__u64 hash;

	for (int i = 0; i < STEP_BYTES / STRIPE_BYTES; i++) {
		if (at + STRIPE_BYTES > end)
			break;
		take_stripe(room->lanes, room->bytes + (at & ROOM_MASK));
		at += STRIPE_BYTES;
	}
	if (room->total >= STRIPE_BYTES) {
		hash = joined(room->lanes);
	} else {
		hash = PRIME_5;
	}
	hash += room->total;
	for (int i = 0; i < 3; i++) {
		if (at + 8 > end)
			break;
		hash = rotated(hash ^ rounded(0, *(__u64 *)(room->bytes + (at & ROOM_MASK))), 27) * PRIME_1 + PRIME_4;
		at += 8;
	}
	if (at + 4 <= end) {
		hash = rotated(hash ^ *(__u32 *)(room->bytes + (at & ROOM_MASK)) * PRIME_1, 23) * PRIME_2 + PRIME_3;
		at += 4;
	}
	for (int i = 0; i < 3; i++) {
		if (at >= end)
			break;
		hash = rotated(hash ^ room->bytes[at & ROOM_MASK] * PRIME_5, 11) * PRIME_1;
		at++;
	}
	return keyed_or_plain(avalanched(hash));
}

/* Where the bytes of a call are: one buffer, or iovecs, its own or a message's. False: nowhere that is known. */
static __always_inline bool find_bytes(struct content_room *room, const struct syscall_event *event,
				       const volatile struct syscall_shape *shape)
{
	struct message message;

	room->compat = event->abi == ABI_I386;
	if (shape->vector) {
		room->vector = argument(event, shape->vector);
		room->parts = argument(event, shape->vector + 1);
	} else if (shape->message) {
		if (!read_message(&message, argument(event, shape->message), room->compat))
			return false;
		room->vector = message.vector;
		room->parts = message.parts;
	} else {
		for (int i = 0; i < 6; i++) {
			if (shape->capture[i] == CAPTURE_BYTES) {
				room->piece = event->arguments[i];
				/* MSG_TRUNC returns more than there was room for */
				room->piece_bytes = event->requested < room->left ? event->requested : room->left;
				return true;
			}
		}
		return false;
	}
	return true;
}

/* The pages of a regular file from a position on; false where there are none that could be read. */
static __always_inline bool find_pages(struct content_room *room, __s32 fd, __s64 position)
{
	__u64 file = file_of(current_task(), fd);

	if (!file || position < 0)
		return false;
	begin_content(room, room->wanted);
	room->mapping = (__u64)typed(struct file, file)->f_mapping;
	room->piece = position;
	room->piece_bytes = room->wanted;
	return room->mapping != 0;
}

static __always_inline void look(struct content_room *room)
{
	bpf_loop(STEPS_MAX, content_step, NULL, 0);
	if (room->left) /* 2 GiB are one step more than a loop may have, and copying takes some too */
		bpf_loop(STEPS_MAX, content_step, NULL, 0);
	if (content_level >= CONTENT_LEVEL_ANCHORS)
		look_for_last_anchors();
	room->unread += room->left;
	room->left = 0;
}

/*
 * sendfile, splice, copy_file_range: the pages of the file that they read, or where these are not in memory of the one that
 * they wrote; they hold the same bytes. From pipe to socket and from pipe to pipe there is no file: all of it is unread.
 */
static __always_inline void look_at_pages(struct content_room *room, const struct syscall_event *event,
					  const volatile struct syscall_shape *shape)
{
	if (event->present & SYSCALL_HAS_FILE_OFFSET && find_pages(room, event->fd, event->file_offset))
		look(room);
	if ((!room->mapping || room->unread) && event->present & SYSCALL_HAS_FILE_OFFSET2 &&
	    find_pages(room, argument(event, shape->fd2), event->file_offset2))
		look(room);
	room->unread += room->left;
}

/* The bytes that it takes, header included. */
static __always_inline __u32 finish_content(struct content_room *room, struct attachment_header *header)
{
	struct content *content = (struct content *)(header + 1);
	__u32 length = records_sums() ? sizeof(*content) : offsetof(struct content, sum);

	header->kind = ATTACHMENT_CONTENT;
	header->length = length;
	header->reserved = 0;
	content->fingerprint = end_content(room);
	content->unread_bytes = room->unread;
	content->anchors_dropped = room->anchors.dropped;
	content->distinct_bytes = 0;
	if (content_level >= CONTENT_LEVEL_ANCHORS)
		content->distinct_bytes = look_at_spread();
	content->sum = room->anchors.sum;
	return sizeof(*header) + length;
}

/* Attaches the content of the call in scratch; it moved bytes, or tried to. */
__noinline int look_at_content(struct scratch *scratch)
{
	struct attachment_header *header;
	struct content_room *room = cpu_room();
	const volatile struct syscall_shape *shape;
	struct syscall_event *event;

	if (!scratch || !room)
		return 0;
	event = &scratch->event;
	header = attachment_room(scratch, sizeof(struct content));
	if (!header)
		return 0;
	shape = shape_of(event->abi, event->syscall);
	begin_content(room, event->bytes);
	if (shape->fd2)
		look_at_pages(room, event, shape);
	else if (find_bytes(room, event, shape))
		look(room);
	else
		return 0;
	if (content_level)
		scratch->event.attachments += finish_content(room, header);
	if (look_for_dyes)
		attach_dyes(scratch);
	if (keeps_neighbours())
		attach_edges(scratch);
	return 0;
}

/* The same of a part: `count` iovecs at `address`, or if there are none one buffer; `bytes` of it were moved. */
__noinline int look_at_part(struct scratch *scratch, __u64 address, __u64 count, __u64 bytes, bool compat)
{
	struct attachment_header *header;
	struct content_room *room = cpu_room();
	__u32 at;

	if (!scratch || !room)
		return 0;
	at = scratch->part.attachments;
	opaque(at);
	if (at > sizeof(scratch->part_attachments) - sizeof(*header) - sizeof(struct content))
		return 0;
	header = (void *)scratch->part_attachments + at;
	begin_content(room, bytes);
	room->compat = compat;
	if (count) {
		room->vector = address;
		room->parts = count;
	} else {
		room->piece = address;
		room->piece_bytes = bytes;
	}
	look(room);
	if (content_level)
		scratch->part.attachments = at + finish_content(room, header);
	if (look_for_dyes)
		attach_part_dyes(scratch);
	return 0;
}
