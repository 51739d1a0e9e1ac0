/* SPDX-License-Identifier: GPL-2.0 */
/* Anchors: from the ends of windows to records. */
#include "kernel/content/anchor.h"
#include "kernel/helpers/children.h"
#include "kernel/content/buffer.h"
#include "kernel/content/xxh64.h"

static __always_inline struct anchor_listed *anchor_place(__u32 number)
{
	__u32 index = bpf_get_smp_processor_id() * ANCHORS_LISTED_MAX + (number & (ANCHORS_LISTED_MAX - 1));

	return bpf_map_lookup_elem(&anchor_lists, &index);
}

/* The sum of what is in front of the stretch at `from`, and `count` of its bytes: scan->sum. */
static __always_inline void sum_up_to(struct content_buffer *buffer, __s32 from, __u32 count)
{
	const __u8 *bytes = buffer_byte(buffer, from, ANCHOR_STRETCH_BYTES);
	__u64 high, low;
	__u32 at = 0;

	if (!bytes)
		return;
	high = buffer->anchors.sums[0];
	low = buffer->anchors.sums[1];
	for (; at < ANCHOR_STRETCH_BYTES && at + 4 <= count; at += 4) {
		high = sum_folded(high * SUM_STEP_HIGH + sum_word(bytes + at, 0), SUM_STEP_HIGH);
		low = sum_folded(low * SUM_STEP_LOW + sum_word(bytes + at, 0), SUM_STEP_LOW);
	}
	for (; at < count; at++) {
		opaque(at); /* or both limits become one, of which 6.1 does not know that it is the smaller one */
		if (at >= ANCHOR_STRETCH_BYTES)
			break;
		high = sum_folded(high * 256 + bytes[at], SUM_STEP_HIGH);
		low = sum_folded(low * 256 + bytes[at], SUM_STEP_LOW);
	}
	buffer->anchors.sum = high % SUM_PRIME_HIGH << 32 | low % SUM_PRIME_LOW;
}

/* Whether it is none of the last two, of which it then becomes one. */
static __always_inline bool is_new(__u64 last[2], __u64 fingerprint)
{
	if (fingerprint == last[0] || fingerprint == last[1])
		return false;
	last[1] = last[0];
	last[0] = fingerprint;
	return true;
}

static __always_inline void list_anchor(struct content_buffer *buffer, __s32 begin, __u64 fingerprint)
{
	struct anchor_scan *scan = &buffer->anchors;
	struct anchor_listed *place;

	place = scan->listed < ANCHORS_LISTED_MAX ? anchor_place(scan->listed) : NULL;
	if (!place) {
		scan->dropped++;
		return;
	}
	place->position = buffer->base + begin;
	place->fingerprint = fingerprint;
	place->prefix_sum = scan->sum;
	scan->listed++;
}

static __always_inline void add_to_sketch(struct sketch_buffer *sketch, __u32 window)
{
	__u32 at = sketch->count;

	opaque(at);
	if (at < SKETCH_WINDOWS_MAX)
		sketch->windows[at] = window;
	sketch->count = at + 1;
}

/* Takes one window of the stretch at `from`. Its last byte and fingerprint are in scan, not in registers, for stacks are full here. */
static __always_inline void take_window(struct content_buffer *buffer, __s32 from)
{
	volatile struct anchor_scan *now = &buffer->anchors;
	struct anchor_scan *scan = &buffer->anchors;
	__u64 fingerprint = now->fingerprint;

	if (buffer->sketch.record.distance && is_new(scan->sketch_last, fingerprint))
		add_to_sketch(&buffer->sketch,
			      sketch_window(now->hashes[now->end & (ANCHOR_STRETCH_BYTES - 1)] >> 32, fingerprint));
	if (now->hashes[now->end & (ANCHOR_STRETCH_BYTES - 1)] < anchor_threshold && is_new(scan->last, fingerprint)) {
		sum_up_to(buffer, from, now->end + 1);
		list_anchor(buffer, from + (__s32)now->end + 1 - ANCHOR_WINDOW, now->fingerprint);
	}
}

struct anchor_ends {
	__u64 mask;
	__s32 from;
};

static long take_next_window(__u32 index, void *context)
{
	struct anchor_ends *ends = context;
	struct content_buffer *buffer = cpu_buffer();
	const __u8 *window;
	__s32 begin;

	if (!buffer || !ends->mask)
		return 1;
	buffer->anchors.end = lowest_bit(ends->mask);
	ends->mask &= ends->mask - 1;
	begin = ends->from + (__s32)buffer->anchors.end + 1 - ANCHOR_WINDOW;
	window = buffer_byte(buffer, begin, ANCHOR_WINDOW);
	if (!window || begin < buffer->known_from)
		return 0;
	buffer->anchors.fingerprint = xxh64_of_stripe(window);
	take_window(buffer, ends->from);
	return 0;
}

__noinline int take_anchors(__s32 from, __u64 mask)
{
	struct anchor_ends ends = { .mask = mask, .from = from };

	each_small_turn(ANCHOR_STRETCH_BYTES, 1, take_next_window, &ends);
	return 0;
}

/* What comes after the end is in the buffer, but no part of the operation. */
LOOP_BODY(look_at_last_stretch)
{
	struct content_buffer *buffer = cpu_buffer();
	__u64 mask, hash;
	__u32 from;

	if (!buffer || buffer->anchors.from >= buffer->filled)
		return 1;
	from = buffer->anchors.from;
	hash = buffer->anchors.hash;
	mask = anchors_in(&buffer->anchors, buffer->bytes + (from & BUFFER_MASK), &hash);
	buffer->anchors.hash = hash;
	if (from + ANCHOR_STRETCH_BYTES > buffer->filled)
		mask &= (1ULL << ((buffer->filled - from) & 63)) - 1;
	if (mask)
		take_anchors(from, mask);
	if (from + ANCHOR_STRETCH_BYTES > buffer->filled)
		return 1;
	add_to_sums(&buffer->anchors, buffer->bytes + (from & BUFFER_MASK));
	buffer->anchors.from = from + ANCHOR_STRETCH_BYTES;
	return 0;
}

__noinline int look_for_last_anchors(void)
{
	struct content_buffer *buffer = cpu_buffer();
	__u64 hash, high, low;

	if (!buffer)
		return 0;
	buffer->anchors.from = buffer->at;
	hash = buffer->anchors.hash;
	high = buffer->anchors.sums[0];
	low = buffer->anchors.sums[1];
	each_turn(ANCHOR_STEP_BYTES / ANCHOR_STRETCH_BYTES, look_at_last_stretch);
	sum_up_to(buffer, buffer->anchors.from, buffer->filled - buffer->anchors.from);
	buffer->anchors.hash = hash; /* a step may take the same bytes, in front of some that could not be read */
	buffer->anchors.sums[0] = high;
	buffer->anchors.sums[1] = low;
	return 0;
}

static long write_anchor(__u32 index, void *context)
{
	const struct anchor_listed *place = anchor_place(index);
	struct anchor_fact fact = {};

	if (!place)
		return 1;
	fact.header.type = RECORD_ANCHOR;
	fact.header.flags = RECORD_MAY_BE_SKIPPED;
	fact.parent_sequence = *(__u64 *)context;
	fact.position = place->position;
	fact.fingerprint = place->fingerprint;
	if (records_sums()) {
		fact.prefix_sum = place->prefix_sum;
		fact.present = ANCHOR_HAS_PREFIX_SUM;
	}
	fact.cpu = bpf_get_smp_processor_id();
	emit_child(&fact.header, sizeof(fact));
	return 0;
}

/* A part of the bytes has no sketch, nor what has more windows than there is room for, nor what has none: zeros. */
static __always_inline void write_sketch(struct content_buffer *buffer, __u64 parent_sequence)
{
	struct sketch_buffer *sketch = &buffer->sketch;
	__u32 count = sketch->count, length;

	if (!sketch->record.distance || buffer->unread || !count || count > SKETCH_WINDOWS_MAX)
		return;
	length = count * sizeof(sketch->windows[0]);
	sketch->record.header.type = RECORD_SKETCH;
	sketch->record.header.flags = RECORD_MAY_BE_SKIPPED;
	sketch->record.parent_sequence = parent_sequence;
	sketch->record.attachments = finish_header(&sketch->header, ATTACHMENT_SKETCH, length);
	emit_child(&sketch->record.header, sizeof(sketch->record) + sketch->record.attachments);
}

__noinline int write_anchors(__u64 parent_sequence, bool written)
{
	struct content_buffer *buffer = cpu_buffer();

	if (content_level < CONTENT_LEVEL_ANCHORS || !buffer)
		return 0;
	if (written) {
		each_small_turn(buffer->anchors.listed, 1, write_anchor, &parent_sequence);
		write_sketch(buffer, parent_sequence);
	}
	buffer->anchors.listed = 0;
	buffer->sketch.record.distance = 0;
	return 0;
}
