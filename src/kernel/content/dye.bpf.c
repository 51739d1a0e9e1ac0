/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dyes: from the windows that the filter lets pass to occurrences, and to what is written of them. Behind content.bpf.c, whose
 * room it looks at.
 */
#include "kernel/helpers/children.h"
#include "kernel/content/dye.h"
#include "kernel/content/room.h"

#define DYE_COMPARE_STEPS_MAX (DYE_STRETCH_BYTES * (1 + DYE_CHAIN_MAX)) /* windows of a mask, and their nodes */

struct dye_look { /* the attachment `dyes` */
	__u64 hits, candidates_dropped, unread_bytes;
};

static __always_inline void count_dye_hit(struct content_room *room, __s32 begin, const struct dye_pattern *pattern)
{
	struct dye_scan *scan = &room->dyes;
	__u32 listed = scan->listed;

	scan->hits++;
	if (listed >= DYE_LISTED_MAX)
		return;
	scan->list[listed].position = room->base + begin;
	scan->list[listed].dye = pattern->dye;
	scan->list[listed].form = pattern->form;
	scan->listed = listed + 1;
}

static __always_inline void compare_node(struct content_room *room, const struct dye_table *table)
{
	struct dye_scan *scan = &room->dyes;
	const struct dye_node *node = &table->nodes[scan->node & (DYE_NODES_MAX - 1)];
	const struct dye_pattern *pattern = &table->patterns[node->pattern & (DYE_PATTERNS_MAX - 1)];
	__s32 begin = scan->at - (__s32)node->offset;
	const __u8 *bytes = room_byte(room, begin, DYE_BYTES_MAX);

	if (node->window != scan->window || begin < room->known_from || begin + pattern->length > (__s32)room->filled || !bytes)
		return;
	if (scan->compares >= DYE_COMPARES_MAX + room->total / DYE_BYTES_MIN) {
		scan->dropped++;
		return;
	}
	scan->compares++;
	if (dye_equals(bytes, pattern))
		count_dye_hit(room, begin, pattern);
}

static __always_inline void next_window(struct content_room *room, const struct dye_table *table)
{
	struct dye_scan *scan = &room->dyes;
	const struct dye_bucket *bucket;
	const __u8 *bytes;

	scan->at = scan->from + (__s32)(lowest_bit(scan->mask) * scan->stride);
	scan->mask &= scan->mask - 1;
	bytes = room_byte(room, scan->at, DYE_LONG_WINDOW);
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
static long compare_step(__u32 index, void *context)
{
	struct content_room *room = cpu_room();
	const struct dye_table *table;

	if (!room)
		return 1;
	table = dye_table_of(&room->dyes);
	if (!table)
		return 1;
	if (room->dyes.nodes_left) {
		compare_node(room, table);
		room->dyes.nodes_left--;
		room->dyes.node++;
		return 0;
	}
	if (!room->dyes.mask)
		return 1;
	next_window(room, table);
	return 0;
}

__noinline int compare_dyes(__s32 from, __u64 mask, __u32 stride)
{
	struct content_room *room = cpu_room();

	if (!look_for_dyes || !room)
		return 0;
	room->dyes.from = from;
	room->dyes.mask = mask;
	room->dyes.stride = stride;
	room->dyes.nodes_left = 0;
	bpf_loop(DYE_COMPARE_STEPS_MAX, compare_step, NULL, 0);
	return 0;
}

static long look_at_stretch(__u32 index, void *context)
{
	struct content_room *room = cpu_room();
	const struct dye_table *table;
	const __u8 *bytes;
	__s32 from;

	if (!room)
		return 1;
	table = dye_table_of(&room->dyes);
	from = room->dyes.stretch;
	bytes = room_byte(room, from, DYE_STRETCH_BYTES + DYE_LONG_WINDOW);
	if (!table || !bytes)
		return 1;
	if (table->patterns_by_long)
		look_at_long_windows(table, bytes, from, DYE_STRETCH_BYTES / DYE_LONG_WINDOW);
	if (table->patterns_by_short)
		look_at_short_windows(table, bytes, from);
	room->dyes.stretch = from + DYE_STRETCH_BYTES;
	return 0;
}

__noinline int look_for_last_dyes(void)
{
	struct content_room *room = cpu_room();
	__s32 from;

	if (!look_for_dyes || !room)
		return 0;
	from = (__s32)room->at - DYE_STEP_BYTES;
	if (from < room->known_from)
		from = room->known_from & ~(DYE_STRETCH_BYTES - 1);
	room->dyes.stretch = from;
	if ((__s32)room->filled > from)
		bpf_loop((__u32)(room->filled - from + DYE_STRETCH_BYTES - 1) / DYE_STRETCH_BYTES, look_at_stretch, NULL, 0);
	return 0;
}

/* Whether there is something to say. */
static __always_inline bool fill_dye_look(struct content_room *room, struct attachment_header *header)
{
	struct dye_look *look = (struct dye_look *)(header + 1);

	if (!room->dyes.hits && !room->dyes.dropped && (content_level || !room->unread))
		return false;
	header->kind = ATTACHMENT_DYES;
	header->length = sizeof(*look);
	header->reserved = 0;
	look->hits = room->dyes.hits;
	look->candidates_dropped = room->dyes.dropped;
	look->unread_bytes = room->unread;
	return true;
}

__noinline int attach_dyes(struct scratch *scratch)
{
	struct content_room *room = cpu_room();
	struct attachment_header *header;

	if (!look_for_dyes || !scratch || !room)
		return 0;
	look_for_last_dyes();
	header = attachment_room(scratch, sizeof(struct dye_look));
	if (header && fill_dye_look(room, header))
		scratch->event.attachments += sizeof(*header) + sizeof(struct dye_look);
	return 0;
}

__noinline int attach_part_dyes(void)
{
	struct content_room *room = cpu_room();
	struct part_room *part = cpu_part();
	struct attachment_header *header;

	if (!look_for_dyes || !part || !room)
		return 0;
	look_for_last_dyes();
	header = part_attachment_room(part, sizeof(struct dye_look));
	if (header && fill_dye_look(room, header))
		part->part.attachments += sizeof(*header) + sizeof(struct dye_look);
	return 0;
}

static long write_dye_hit(__u32 index, void *context)
{
	struct content_room *room = cpu_room();
	struct dye_hit_fact fact = {};

	if (!room || index >= DYE_LISTED_MAX)
		return 1;
	fact.header.type = RECORD_DYE_HIT;
	fact.header.flags = RECORD_MAY_BE_SKIPPED;
	fact.parent_sequence = *(__u64 *)context;
	fact.cpu = bpf_get_smp_processor_id();
	fact.position = room->dyes.list[index].position;
	fact.dye_id = room->dyes.list[index].dye;
	fact.form = room->dyes.list[index].form;
	emit_child(&fact.header, sizeof(fact));
	return 0;
}

__noinline int write_dye_hits(__u64 parent_sequence, bool written)
{
	struct content_room *room = cpu_room();

	if (!look_for_dyes || !room)
		return 0;
	if (written)
		bpf_loop(room->dyes.listed, write_dye_hit, &parent_sequence, 0);
	room->dyes.listed = 0;
	return 0;
}
