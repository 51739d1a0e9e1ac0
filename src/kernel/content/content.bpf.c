/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fingerprint of all bytes that a call moved: XXH64, and with a key SipHash of that (docs/content.md).
 *
 *   iovecs in user memory ──copy──► buffer of this CPU ──256 bytes a step──► four lanes ──► attachment `content`
 *          65,280 at a time
 *
 * For sendfile, splice and copy_file_range the pages of a file are copied. Read at the exit, when both directions lie in
 * memory; what is changed meanwhile by another thread is as the program could have seen it. A call of which something could only be read
 * with a fault is deferred until one is allowed (deferred.bpf.c). What cannot be read then is counted.
 *
 * Limits: 2 GiB of a call, more than the kernel moves in one.
 */
#include "kernel/helpers/call.h"
#include "kernel/helpers/children.h"
#include "kernel/content/content.h"
#include "kernel/content/edges.h"
#include "kernel/helpers/pages.h"
#include "kernel/content/parts.h"
#include "kernel/content/buffer.h"
#include "kernel/content/xxh64.h"
#include "kernel/content/payload.h"
#include "content/keyed.h"

#define STEPS_MAX (1 << 23) /* what bpf_loop allows; of 256 bytes */

static __always_inline void take_step(struct content_buffer *buffer)
{
	const __u8 *from = buffer->bytes + (buffer->at & BUFFER_MASK);
	__u64 lanes[4] = { buffer->lanes[0], buffer->lanes[1], buffer->lanes[2], buffer->lanes[3] };

	for (int stripe = 0; stripe < STEP_BYTES / STRIPE_BYTES; stripe++)
		take_stripe(lanes, from + stripe * STRIPE_BYTES);
	buffer->lanes[0] = lanes[0];
	buffer->lanes[1] = lanes[1];
	buffer->lanes[2] = lanes[2];
	buffer->lanes[3] = lanes[3];
	buffer->at += STEP_BYTES;
}

/* False: there is none, or it could not be read. */
static __always_inline bool next_piece(struct content_buffer *buffer)
{
	__u64 part[2] = {};

	if (!buffer->walk.parts)
		return false;
	if (bpf_probe_read_user(part, iovec_bytes(&buffer->walk), (void *)buffer->walk.vector)) {
		buffer->missed = true;
		return false;
	}
	take_iovec(&buffer->walk, part);
	return true;
}

static __always_inline void take_copied(struct content_buffer *buffer, __u32 filled, __u32 bytes)
{
	if (content_level == CONTENT_LEVEL_BYTES)
		emit_payload(buffer->bytes + filled, bytes, buffer->wanted - buffer->walk.left);
	buffer->filled = filled + bytes;
	buffer->total += bytes;
	end_piece(&buffer->walk, bytes);
}

static __always_inline void skip_unread(struct content_buffer *buffer, __u32 filled, __u32 bytes)
{
	if (keeps_neighbours())
		break_buffer(buffer, filled, bytes);
	buffer->unread += bytes;
	end_piece(&buffer->walk, bytes);
}

static __always_inline void copy_page(struct content_buffer *buffer)
{
	__u32 filled = buffer->filled & (STEP_BYTES - 1);
	__u32 wanted = piece_to_take(&buffer->walk, PAGE_BYTES - (buffer->walk.piece & (PAGE_BYTES - 1)));

	opaque(wanted);
	if (wanted > PAGE_BYTES)
		return;
	if (read_page(buffer->bytes + filled, wanted, buffer->mapping, buffer->walk.piece)) {
		take_copied(buffer, filled, wanted);
	} else {
		skip_unread(buffer, filled, wanted);
	}
}

/* What is not resident is found page by page. */
static __always_inline void copy_piece(struct content_buffer *buffer)
{
	__u32 filled = buffer->filled & (STEP_BYTES - 1), wanted = piece_to_take(&buffer->walk, BUFFER_BYTES - STEP_BYTES);
	__u32 to_page_end;

	opaque(wanted);
	if (wanted > BUFFER_BYTES - STEP_BYTES)
		return;
	if (bpf_probe_read_user(buffer->bytes + filled, wanted, (void *)buffer->walk.piece)) {
		to_page_end = PAGE_BYTES - (buffer->walk.piece & (PAGE_BYTES - 1));
		if (wanted > to_page_end)
			wanted = to_page_end;
		opaque(wanted);
		if (wanted > PAGE_BYTES)
			return;
		if (bpf_probe_read_user(buffer->bytes + filled, wanted, (void *)buffer->walk.piece)) {
			buffer->missed = true;
			skip_unread(buffer, filled, wanted);
			return;
		}
	}
	take_copied(buffer, filled, wanted);
}

/* 256 bytes, or when there are fewer in the buffer, more bytes for it. */
LOOP_BODY(content_step)
{
	struct content_buffer *buffer = cpu_buffer();
	__u32 rest;

	if (!buffer)
		return 1;
	if (buffer->filled - buffer->at >= STEP_BYTES && buffer->filled > buffer->at) {
		if (look_for_dyes)
			look_for_dyes_before(&buffer->dyes,
					     buffer->before + (BEFORE_BYTES - STEP_BYTES) + (buffer->at & BUFFER_MASK),
					     buffer->at);
		if (content_level >= CONTENT_LEVEL_ANCHORS)
			look_for_anchors(&buffer->anchors, buffer->bytes + (buffer->at & BUFFER_MASK), buffer->at);
		if (content_level)
			take_step(buffer);
		else
			buffer->at += STEP_BYTES;
		return 0;
	}
	if (!buffer->walk.left || (!buffer->walk.piece_bytes && !next_piece(buffer)))
		return 1;
	if (buffer->at) { /* at least a step: they do not overlap */
		rest = buffer->filled - buffer->at;
		opaque(rest);
		if (keeps_neighbours())
			move_buffer(buffer, buffer->at);
		bpf_probe_read_kernel(buffer->bytes, rest & (STEP_BYTES - 1), buffer->bytes + (buffer->at & BUFFER_MASK));
		buffer->filled = rest & (STEP_BYTES - 1);
		buffer->at = 0;
	}
	if (buffer->mapping)
		copy_page(buffer);
	else
		copy_piece(buffer);
	return 0;
}

static __always_inline void begin_content(struct content_buffer *buffer, __u64 bytes)
{
	buffer->wanted = bytes;
	begin_lanes(buffer->lanes);
	buffer->total = 0;
	begin_walk(&buffer->walk, bytes);
	buffer->unread = 0;
	buffer->missed = false;
	buffer->mapping = 0;
	buffer->at = 0;
	buffer->filled = 0;
	buffer->base = 0;
	buffer->known_from = 0;
	buffer->moved = false;
	if (look_for_dyes)
		begin_dyes(&buffer->dyes);
	if (content_level >= CONTENT_LEVEL_ANCHORS)
		begin_anchors(&buffer->anchors, &buffer->sketch, bytes);
}

/* The last bytes, fewer than a step. Not inlined: what it needs would lie on the stack of all that looks at the bytes. */
static __noinline __u64 end_content(struct content_buffer *buffer)
{
	__u32 at = buffer->at & BUFFER_MASK, end = buffer->filled;
	__u64 hash;

	for (int i = 0; i < STEP_BYTES / STRIPE_BYTES; i++) {
		if (at + STRIPE_BYTES > end)
			break;
		take_stripe(buffer->lanes, buffer->bytes + (at & BUFFER_MASK));
		at += STRIPE_BYTES;
	}
	if (buffer->total >= STRIPE_BYTES) {
		hash = joined(buffer->lanes);
	} else {
		hash = PRIME_5;
	}
	hash += buffer->total;
	for (int i = 0; i < 3; i++) {
		if (at + 8 > end)
			break;
		hash = rotated(hash ^ rounded(0, *(__u64 *)(buffer->bytes + (at & BUFFER_MASK))), 27) * PRIME_1 + PRIME_4;
		at += 8;
	}
	if (at + 4 <= end) {
		hash = rotated(hash ^ *(__u32 *)(buffer->bytes + (at & BUFFER_MASK)) * PRIME_1, 23) * PRIME_2 + PRIME_3;
		at += 4;
	}
	for (int i = 0; i < 3; i++) {
		if (at >= end)
			break;
		hash = rotated(hash ^ buffer->bytes[at & BUFFER_MASK] * PRIME_5, 11) * PRIME_1;
		at++;
	}
	return keyed_or_plain(avalanched(hash));
}

/* The pages of a regular file from a position on; false where there are none that could be read. */
static __always_inline bool find_pages(struct content_buffer *buffer, __s32 fd, __s64 position)
{
	__u64 file = file_of(current_task(), fd);

	if (!file || position < 0)
		return false;
	begin_content(buffer, buffer->wanted);
	buffer->mapping = (__u64)READ(typed(file, file), f_mapping);
	buffer->walk.piece = position;
	buffer->walk.piece_bytes = buffer->wanted;
	return buffer->mapping != 0;
}

LOOP_BODY(probe_page)
{
	struct content_buffer *buffer = cpu_buffer();
	__u32 bytes;
	__u8 byte;

	if (!buffer || !buffer->walk.left || (!buffer->walk.piece_bytes && !next_piece(buffer)))
		return 1;
	bytes = piece_to_take(&buffer->walk, PAGE_BYTES - (buffer->walk.piece & (PAGE_BYTES - 1)));
	if (bytes && bpf_probe_read_user(&byte, sizeof(byte), (void *)buffer->walk.piece)) {
		buffer->missed = true;
		return 1;
	}
	end_piece(&buffer->walk, bytes);
	return 0;
}

/* Payload that was written cannot be taken back: before it is, it has to be sure that the call is not put off. */
static __always_inline bool is_resident(struct content_buffer *buffer, const struct syscall_event *event,
					const volatile struct syscall_shape *shape)
{
	begin_walk(&buffer->walk, event->bytes);
	buffer->missed = false;
	if (find_bytes(&buffer->walk, event, shape))
		each_turn(STEPS_MAX, probe_page);
	return !buffer->missed;
}

static long probe_part(__u32 index, void *context)
{
	struct content_buffer *buffer = cpu_buffer();
	struct scratch *scratch = cpu_scratch();

	if (!buffer || !scratch || buffer->missed || !find_part_bytes(&buffer->walk, &scratch->event, *(__u64 *)context, index))
		return 1;
	each_turn(STEPS_MAX, probe_page);
	return 0;
}

static bool parts_are_resident(struct scratch *scratch)
{
	__u64 mm = mm_of(scratch, current_task());
	struct content_buffer *buffer = cpu_buffer();

	if (!buffer || scratch->event.result <= 0)
		return true;
	buffer->missed = false;
	each_small_turn(scratch->event.result < TOUCHED_MAX ? scratch->event.result : TOUCHED_MAX, 1, probe_part, &mm);
	return !buffer->missed;
}

static __always_inline void look(struct content_buffer *buffer)
{
	each_turn(STEPS_MAX, content_step);
	if (buffer->walk.left) /* 2 GiB are one step more than a loop may have, and copying takes some too */
		each_turn(STEPS_MAX, content_step);
	if (content_level >= CONTENT_LEVEL_ANCHORS)
		look_for_last_anchors();
	buffer->unread += buffer->walk.left;
	buffer->walk.left = 0;
}

/*
 * sendfile, splice, copy_file_range: the pages of the file that they read, or where these are not in memory of the one that
 * they wrote; they hold the same bytes. From pipe to socket and from pipe to pipe there is no file: all of it is unread.
 */
static __always_inline void look_at_pages(struct content_buffer *buffer, const struct syscall_event *event,
					  const volatile struct syscall_shape *shape)
{
	if (event->present & SYSCALL_HAS_FILE_OFFSET && find_pages(buffer, event->fd, event->file_offset))
		look(buffer);
	if ((!buffer->mapping || buffer->unread) && event->present & SYSCALL_HAS_FILE_OFFSET2 &&
	    find_pages(buffer, argument(event, shape->fd2), event->file_offset2))
		look(buffer);
	buffer->unread += buffer->walk.left;
}

/* The bytes that it takes, header included. */
static __always_inline __u32 finish_content(struct content_buffer *buffer, struct attachment_header *header)
{
	struct content_found *content = (struct content_found *)(header + 1);
	__u32 length = records_sums() ? sizeof(*content) : offsetof(struct content_found, sum);

	content->fingerprint = end_content(buffer);
	content->unread_bytes = buffer->unread;
	content->anchors_dropped = buffer->anchors.dropped;
	content->distinct_bytes = 0;
	if (content_level >= CONTENT_LEVEL_ANCHORS)
		content->distinct_bytes = look_at_spread();
	content->sum = buffer->anchors.sum;
	return finish_header(header, ATTACHMENT_CONTENT, length);
}

/* What was found will be found again. */
static __always_inline int forget_found(void)
{
	write_dye_hits(0, false);
	write_anchors(0, false);
	return 0;
}

__noinline int look_at_content(scratch_ref ref, bool may_wait)
{
	struct scratch *scratch = scratch_of(ref);
	struct attachment_header *header;
	struct content_buffer *buffer = cpu_buffer();
	const volatile struct syscall_shape *shape;
	struct syscall_event *event;

	if (!scratch || !buffer)
		return 1;
	event = &scratch->event;
	header = attachment_space(scratch, sizeof(struct content_found));
	if (!header)
		return 1;
	shape = shape_of(event->abi, event->syscall);
	if (may_wait && content_level == CONTENT_LEVEL_BYTES && !shape->fd2 && !is_resident(buffer, event, shape))
		return 0;
	begin_content(buffer, event->bytes);
	if (shape->fd2)
		look_at_pages(buffer, event, shape);
	else if (find_bytes(&buffer->walk, event, shape))
		look(buffer);
	else if (is_dropped(event, shape))
		buffer->unread = event->bytes;
	else
		return 1;
	if (may_wait && buffer->missed)
		return forget_found();
	if (content_level)
		scratch->event.attachments += finish_content(buffer, header);
	if (look_for_dyes)
		attach_dyes(ref_of(scratch));
	if (keeps_neighbours())
		attach_edges(ref_of(scratch));
	return 1;
}

/* Looks at a part: `count` iovecs at `address`, or if there are none one buffer; `bytes` of it were moved. */
__noinline int look_at_part(scratch_ref ref, __u64 address, __u64 count, __u64 bytes, bool compat)
{
	struct scratch *scratch = scratch_of(ref);
	struct attachment_header *header;
	struct content_buffer *buffer = cpu_buffer();
	struct part_buffer *part = cpu_part();

	if (!scratch || !buffer || !part)
		return 0;
	header = part_attachment_space(part, sizeof(struct content_found));
	if (!header)
		return 0;
	begin_content(buffer, bytes);
	buffer->walk.compat = compat;
	if (count) {
		buffer->walk.vector = address;
		buffer->walk.parts = count;
	} else {
		buffer->walk.piece = address;
		buffer->walk.piece_bytes = bytes;
	}
	look(buffer);
	if (content_level)
		part->part.attachments += finish_content(buffer, header);
	if (look_for_dyes)
		attach_part_dyes();
	if (keeps_neighbours())
		attach_part_edges(ref_of(scratch));
	return 0;
}
