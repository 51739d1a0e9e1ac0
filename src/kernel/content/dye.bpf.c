/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dyes: from the windows that the filter lets pass to occurrences, and to what is written of them. Runs after content.bpf.c,
 * whose buffer it looks at.
 */
#include "kernel/helpers/children.h"
#include "kernel/content/dye.h"
#include "kernel/content/buffer.h"

#define DYE_COMPARE_STEPS_MAX (DYE_STRETCH_BYTES * (1 + DYE_CHAIN_MAX)) /* windows of a mask, and their nodes */

static __always_inline void count_dye_hit(struct content_buffer *buffer, __s32 begin, const struct dye_pattern *pattern)
{
	struct dye_scan *scan = &buffer->dyes;
	__u32 listed = scan->listed;

	scan->hits++;
	if (listed >= DYE_LISTED_MAX)
		return;
	scan->list[listed].position = buffer->base + begin;
	scan->list[listed].dye = pattern->dye;
	scan->list[listed].form = pattern->form;
	scan->listed = listed + 1;
}

static __always_inline void compare_node(struct content_buffer *buffer, const struct dye_table *table)
{
	struct dye_scan *scan = &buffer->dyes;
	const struct dye_node *node = &table->nodes[scan->node & (DYE_NODES_MAX - 1)];
	const struct dye_pattern *pattern = &table->patterns[node->pattern & (DYE_PATTERNS_MAX - 1)];
	__s32 begin = scan->at - (__s32)node->offset;
	const __u8 *bytes = buffer_byte(buffer, begin, DYE_BYTES_MAX);

	if (node->window != scan->window || begin < buffer->known_from || begin + pattern->length > (__s32)buffer->filled ||
	    !bytes)
		return;
	if (scan->compares >= DYE_COMPARES_MAX + buffer->total / DYE_BYTES_MIN) {
		scan->dropped++;
		return;
	}
	scan->compares++;
	if (dye_equals(bytes, pattern))
		count_dye_hit(buffer, begin, pattern);
}

static __always_inline void next_window(struct content_buffer *buffer, const struct dye_table *table)
{
	struct dye_scan *scan = &buffer->dyes;
	const struct dye_bucket *bucket;
	const __u8 *bytes;

	scan->at = scan->from + (__s32)(lowest_bit(scan->mask) * scan->stride);
	scan->mask &= scan->mask - 1;
	bytes = buffer_byte(buffer, scan->at, DYE_LONG_WINDOW);
	if (!bytes)
		return;
	scan->window = scan->stride == DYE_LONG_WINDOW ? dye_load8(bytes) | DYE_FOLD : dye_load4(bytes) | DYE_FOLD_SHORT;
	bucket = &table->buckets[dye_bucket_of(scan->window) & (DYE_BUCKETS - 1)];
	scan->node = bucket->first;
	scan->nodes_left = bucket->nodes;
	if (scan->nodes_left > DYE_CHAIN_MAX) {
		scan->dropped += scan->nodes_left - DYE_CHAIN_MAX;
		scan->nodes_left = DYE_CHAIN_MAX;
	}
}

/* One node, or when there is none the next window. */
LOOP_BODY(compare_step)
{
	struct content_buffer *buffer = cpu_buffer();
	const struct dye_table *table;

	if (!buffer)
		return 1;
	table = dye_table_of(&buffer->dyes);
	if (!table)
		return 1;
	if (buffer->dyes.nodes_left) {
		compare_node(buffer, table);
		buffer->dyes.nodes_left--;
		buffer->dyes.node++;
		return 0;
	}
	if (!buffer->dyes.mask)
		return 1;
	next_window(buffer, table);
	return 0;
}

__noinline int compare_dyes(__s32 from, __u64 mask, __u32 stride)
{
	struct content_buffer *buffer = cpu_buffer();

	if (!look_for_dyes || !buffer)
		return 0;
	buffer->dyes.from = from;
	buffer->dyes.mask = mask;
	buffer->dyes.stride = stride;
	buffer->dyes.nodes_left = 0;
	each_turn(DYE_COMPARE_STEPS_MAX, compare_step);
	return 0;
}

LOOP_BODY(look_at_stretch)
{
	struct content_buffer *buffer = cpu_buffer();
	const struct dye_table *table;
	const __u8 *bytes;
	__s32 from;

	if (!buffer)
		return 1;
	table = dye_table_of(&buffer->dyes);
	from = buffer->dyes.stretch;
	bytes = buffer_byte(buffer, from, DYE_STRETCH_BYTES + DYE_LONG_WINDOW);
	if (!table || !bytes)
		return 1;
	if (table->patterns_by_long)
		look_at_long_windows(table, bytes, from, DYE_STRETCH_BYTES / DYE_LONG_WINDOW);
	if (table->patterns_by_short)
		look_at_short_windows(table, bytes, from);
	buffer->dyes.stretch = from + DYE_STRETCH_BYTES;
	return 0;
}

__noinline int look_for_last_dyes(void)
{
	struct content_buffer *buffer = cpu_buffer();
	__s32 from;

	if (!look_for_dyes || !buffer)
		return 0;
	from = (__s32)buffer->at - DYE_STEP_BYTES;
	if (from < buffer->known_from)
		from = buffer->known_from & ~(DYE_STRETCH_BYTES - 1);
	buffer->dyes.stretch = from;
	if ((__s32)buffer->filled > from)
		each_turn((__u32)(buffer->filled - from + DYE_STRETCH_BYTES - 1) / DYE_STRETCH_BYTES, look_at_stretch);
	return 0;
}

/* Whether there is something to say. */
static __always_inline bool fill_dyes(struct content_buffer *buffer, struct attachment_header *header)
{
	struct dyes_found *look = (struct dyes_found *)(header + 1);

	if (!buffer->dyes.hits && !buffer->dyes.dropped && (content_level || !buffer->unread))
		return false;
	header->kind = ATTACHMENT_DYES;
	header->length = sizeof(*look);
	header->reserved = 0;
	look->hits = buffer->dyes.hits;
	look->candidates_dropped = buffer->dyes.dropped;
	look->unread_bytes = buffer->unread;
	return true;
}

__noinline int attach_dyes(scratch_ref ref)
{
	struct scratch *scratch = scratch_of(ref);
	struct content_buffer *buffer = cpu_buffer();
	struct attachment_header *header;

	if (!look_for_dyes || !scratch || !buffer)
		return 0;
	look_for_last_dyes();
	header = attachment_space(scratch, sizeof(struct dyes_found));
	if (header && fill_dyes(buffer, header))
		scratch->event.attachments += sizeof(*header) + sizeof(struct dyes_found);
	return 0;
}

__noinline int attach_part_dyes(void)
{
	struct content_buffer *buffer = cpu_buffer();
	struct part_buffer *part = cpu_part();
	struct attachment_header *header;

	if (!look_for_dyes || !part || !buffer)
		return 0;
	look_for_last_dyes();
	header = part_attachment_space(part, sizeof(struct dyes_found));
	if (header && fill_dyes(buffer, header))
		part->part.attachments += sizeof(*header) + sizeof(struct dyes_found);
	return 0;
}

static long write_dye_hit(__u32 index, void *context)
{
	struct content_buffer *buffer = cpu_buffer();
	struct dye_hit_fact fact = {};

	if (!buffer || index >= DYE_LISTED_MAX)
		return 1;
	fact.header.type = RECORD_DYE_HIT;
	fact.header.flags = RECORD_MAY_BE_SKIPPED;
	fact.parent_sequence = *(__u64 *)context;
	fact.cpu = bpf_get_smp_processor_id();
	fact.position = buffer->dyes.list[index].position;
	fact.dye_id = buffer->dyes.list[index].dye;
	fact.form = buffer->dyes.list[index].form;
	emit_child(&fact.header, sizeof(fact));
	return 0;
}

__noinline int write_dye_hits(__u64 parent_sequence, bool written)
{
	struct content_buffer *buffer = cpu_buffer();

	if (!look_for_dyes || !buffer)
		return 0;
	if (written)
		each_small_turn(buffer->dyes.listed, 1, write_dye_hit, &parent_sequence);
	buffer->dyes.listed = 0;
	return 0;
}
