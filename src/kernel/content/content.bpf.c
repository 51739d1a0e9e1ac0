/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fingerprint of all bytes that a call moved: XXH64, and with a key SipHash of that (docs/content.md).
 *
 *   iovecs in user memory ──copy──► room of this CPU ──256 bytes a step──► four lanes ──► attachment `content`
 *          65,280 at a time
 *
 * Of sendfile, splice and copy_file_range it is the pages of a file that are copied. Read at the exit, when both directions lie in
 * memory; what is changed meanwhile by another thread is as the program could have seen it. A call of which something could only be read
 * with a fault is put off until one is allowed (later.bpf.c). What cannot be read then is counted.
 *
 * Limits: 2 GiB of a call, more than the kernel moves in one.
 */
#include "kernel/helpers/call.h"
#include "kernel/helpers/children.h"
#include "kernel/content/content.h"
#include "kernel/content/edges.h"
#include "kernel/content/pages.h"
#include "kernel/content/parts.h"
#include "kernel/content/room.h"
#include "kernel/content/xxh64.h"
#include "kernel/content/payload.h"
#include "content/keyed.h"

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

/* False: there is none, or it could not be read. */
static __always_inline bool next_piece(struct content_room *room)
{
	__u64 part[2] = {};

	if (!room->walk.parts)
		return false;
	if (bpf_probe_read_user(part, iovec_bytes(&room->walk), (void *)room->walk.vector)) {
		room->missed = true;
		return false;
	}
	take_iovec(&room->walk, part);
	return true;
}

static __always_inline void take_copied(struct content_room *room, __u32 filled, __u32 bytes)
{
	if (content_level == CONTENT_LEVEL_BYTES)
		emit_payload(room->bytes + filled, bytes, room->wanted - room->walk.left);
	room->filled = filled + bytes;
	room->total += bytes;
	end_piece(&room->walk, bytes);
}

static __always_inline void skip_unread(struct content_room *room, __u32 filled, __u32 bytes)
{
	if (keeps_neighbours())
		break_room(room, filled, bytes);
	room->unread += bytes;
	end_piece(&room->walk, bytes);
}

static __always_inline void copy_page(struct content_room *room)
{
	__u32 filled = room->filled & (STEP_BYTES - 1);
	__u32 wanted = piece_to_take(&room->walk, PAGE_BYTES - (room->walk.piece & (PAGE_BYTES - 1)));

	opaque(wanted);
	if (wanted > PAGE_BYTES)
		return;
	if (read_page(room->bytes + filled, wanted, room->mapping, room->walk.piece)) {
		take_copied(room, filled, wanted);
	} else {
		skip_unread(room, filled, wanted);
	}
}

/* What is not resident is found page by page. */
static __always_inline void copy_piece(struct content_room *room)
{
	__u32 filled = room->filled & (STEP_BYTES - 1), wanted = piece_to_take(&room->walk, ROOM_BYTES - STEP_BYTES);
	__u32 to_page_end;

	opaque(wanted);
	if (wanted > ROOM_BYTES - STEP_BYTES)
		return;
	if (bpf_probe_read_user(room->bytes + filled, wanted, (void *)room->walk.piece)) {
		to_page_end = PAGE_BYTES - (room->walk.piece & (PAGE_BYTES - 1));
		if (wanted > to_page_end)
			wanted = to_page_end;
		opaque(wanted);
		if (wanted > PAGE_BYTES)
			return;
		if (bpf_probe_read_user(room->bytes + filled, wanted, (void *)room->walk.piece)) {
			room->missed = true;
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
	if (!room->walk.left || (!room->walk.piece_bytes && !next_piece(room)))
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
	begin_walk(&room->walk, bytes);
	room->unread = 0;
	room->missed = false;
	room->mapping = 0;
	room->at = 0;
	room->filled = 0;
	room->base = 0;
	room->known_from = 0;
	room->moved = false;
	if (look_for_dyes)
		begin_dyes(&room->dyes);
	if (content_level >= CONTENT_LEVEL_ANCHORS)
		begin_anchors(&room->anchors, &room->sketch, bytes);
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

/* The pages of a regular file from a position on; false where there are none that could be read. */
static __always_inline bool find_pages(struct content_room *room, __s32 fd, __s64 position)
{
	__u64 file = file_of(current_task(), fd);

	if (!file || position < 0)
		return false;
	begin_content(room, room->wanted);
	room->mapping = (__u64)typed(struct file, file)->f_mapping;
	room->walk.piece = position;
	room->walk.piece_bytes = room->wanted;
	return room->mapping != 0;
}

static long probe_page(__u32 index, void *context)
{
	struct content_room *room = cpu_room();
	__u32 bytes;
	__u8 byte;

	if (!room || !room->walk.left || (!room->walk.piece_bytes && !next_piece(room)))
		return 1;
	bytes = piece_to_take(&room->walk, PAGE_BYTES - (room->walk.piece & (PAGE_BYTES - 1)));
	if (bytes && bpf_probe_read_user(&byte, sizeof(byte), (void *)room->walk.piece)) {
		room->missed = true;
		return 1;
	}
	end_piece(&room->walk, bytes);
	return 0;
}

/* Payload that was written cannot be taken back: before it is, it has to be sure that the call is not put off. */
static __always_inline bool is_resident(struct content_room *room, const struct syscall_event *event,
					const volatile struct syscall_shape *shape)
{
	begin_walk(&room->walk, event->bytes);
	room->missed = false;
	if (find_bytes(&room->walk, event, shape))
		bpf_loop(STEPS_MAX, probe_page, NULL, 0);
	return !room->missed;
}

static long probe_part(__u32 index, void *context)
{
	struct content_room *room = cpu_room();
	struct scratch *scratch = cpu_scratch();

	if (!room || !scratch || room->missed || !find_part_bytes(&room->walk, &scratch->event, *(__u64 *)context, index))
		return 1;
	bpf_loop(STEPS_MAX, probe_page, NULL, 0);
	return 0;
}

static bool parts_are_resident(struct scratch *scratch)
{
	__u64 mm = mm_of(scratch, current_task());
	struct content_room *room = cpu_room();

	if (!room || scratch->event.result <= 0)
		return true;
	room->missed = false;
	bpf_loop(scratch->event.result < TOUCHED_MAX ? scratch->event.result : TOUCHED_MAX, probe_part, &mm, 0);
	return !room->missed;
}

static __always_inline void look(struct content_room *room)
{
	bpf_loop(STEPS_MAX, content_step, NULL, 0);
	if (room->walk.left) /* 2 GiB are one step more than a loop may have, and copying takes some too */
		bpf_loop(STEPS_MAX, content_step, NULL, 0);
	if (content_level >= CONTENT_LEVEL_ANCHORS)
		look_for_last_anchors();
	room->unread += room->walk.left;
	room->walk.left = 0;
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
	room->unread += room->walk.left;
}

/* The bytes that it takes, header included. */
static __always_inline __u32 finish_content(struct content_room *room, struct attachment_header *header)
{
	struct content *content = (struct content *)(header + 1);
	__u32 length = records_sums() ? sizeof(*content) : offsetof(struct content, sum);

	content->fingerprint = end_content(room);
	content->unread_bytes = room->unread;
	content->anchors_dropped = room->anchors.dropped;
	content->distinct_bytes = 0;
	if (content_level >= CONTENT_LEVEL_ANCHORS)
		content->distinct_bytes = look_at_spread();
	content->sum = room->anchors.sum;
	return finish_header(header, ATTACHMENT_CONTENT, length);
}

/* What was found will be found again. */
static __always_inline int forget_found(void)
{
	write_dye_hits(0, false);
	write_anchors(0, false);
	return 0;
}

__noinline int look_at_content(struct scratch *scratch, bool may_wait)
{
	struct attachment_header *header;
	struct content_room *room = cpu_room();
	const volatile struct syscall_shape *shape;
	struct syscall_event *event;

	if (!scratch || !room)
		return 1;
	event = &scratch->event;
	header = attachment_room(scratch, sizeof(struct content));
	if (!header)
		return 1;
	shape = shape_of(event->abi, event->syscall);
	if (may_wait && content_level == CONTENT_LEVEL_BYTES && !shape->fd2 && !is_resident(room, event, shape))
		return 0;
	begin_content(room, event->bytes);
	if (shape->fd2)
		look_at_pages(room, event, shape);
	else if (find_bytes(&room->walk, event, shape))
		look(room);
	else
		return 1;
	if (may_wait && room->missed)
		return forget_found();
	if (content_level)
		scratch->event.attachments += finish_content(room, header);
	if (look_for_dyes)
		attach_dyes(scratch);
	if (keeps_neighbours())
		attach_edges(scratch);
	return 1;
}

/* The same of a part: `count` iovecs at `address`, or if there are none one buffer; `bytes` of it were moved. */
__noinline int look_at_part(struct scratch *scratch, __u64 address, __u64 count, __u64 bytes, bool compat)
{
	struct attachment_header *header;
	struct content_room *room = cpu_room();
	struct part_room *part = cpu_part();

	if (!scratch || !room || !part)
		return 0;
	header = part_attachment_room(part, sizeof(struct content));
	if (!header)
		return 0;
	begin_content(room, bytes);
	room->walk.compat = compat;
	if (count) {
		room->walk.vector = address;
		room->walk.parts = count;
	} else {
		room->walk.piece = address;
		room->walk.piece_bytes = bytes;
	}
	look(room);
	if (content_level)
		part->part.attachments += finish_content(room, header);
	if (look_for_dyes)
		attach_part_dyes();
	if (keeps_neighbours())
		attach_part_edges(scratch);
	return 0;
}
