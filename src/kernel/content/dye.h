/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dyes: texts that are looked for in all bytes that calls move, in the buffer through which content.bpf.c takes these bytes.
 *
 *   | before, 512 bytes |  rest  |  what was copied after it ...             |        buffer.h
 *                       0                    at-256      at       at+256     filled
 *                                            |~~~~~~~~~~~|
 *                       windows that begin here are looked up in one step: all of a pattern around one is there, from at-508
 *                       on and before at+256, whatever its length
 *
 * src/content/dye_table.h says how. What was found is written after the event, see write_dye_hits(). What crosses the border of two
 * calls is found by src/capture (edges.h).
 *
 * Limits: 64 occurrences of a call are listed, all are counted; 1,048,576 comparisons a call and one
 * for each 4 bytes, what comes after them is counted as dropped. No occurrence spans bytes that could not be read.
 */
#pragma once

#include "kernel/helpers/call.h"
#include "content/dye_table.h"

#define DYE_LISTED_MAX 64 /* occurrences of an event: 3 KiB of records */
#define DYE_COMPARES_MAX                                                                                                         \
	(1 << 20) /* of an event, and one for each DYE_BYTES_MIN: some 20 ms, in which nothing else runs on the CPU */
#define DYE_STEP_BYTES 256
#define DYE_STRETCH_BYTES 64 /* at the end of a call: so few bytes cost little */

struct dye_listed {
	__s64 position; /* in the operation */
	__u32 dye;
	__u32 form;
};

/* What is known of the operation that is looked at; positions are those in the buffer. */
struct dye_scan {
	__u64 hits, dropped, compares;
	__u64 mask; /* of candidates that were not looked at yet: windows at from, from + stride … */
	__u64 window; /* folded */
	__s32 from, at, stretch;
	__u32 stride;
	__u32 node, nodes_left; /* that may have this window */
	__u32 table; /* of dye_tables */
	__u32 listed;
	struct dye_listed list[DYE_LISTED_MAX];
};

/* Two, so that src/capture builds one while the other is used. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, DYE_TABLES);
	__uint(key_size, 4);
	__uint(value_size, sizeof(struct dye_table)); /* src/capture: 8 if nothing is looked for */
} dye_tables SEC(".maps");

__u32 dye_table_in_use;

static __always_inline const struct dye_table *dye_table_of(const struct dye_scan *scan)
{
	__u32 index = scan->table;

	return bpf_map_lookup_elem(&dye_tables, &index);
}

/* Compares what these windows may belong to: bit i stands for the one at from + i * stride. */
int compare_dyes(__s32 from, __u64 mask, __u32 stride);

/* Looks at the windows that no step has looked at: at the end, and in front of bytes that could not be read. */
int look_for_last_dyes(void);

/* Attaches what was seen to the event in scratch. */
int attach_dyes(scratch_ref ref);

/* What was seen, to the part that is being built. */
int attach_part_dyes(void);

/* Writes the occurrences after the event, or part, that moved them; not if that could not be written itself. */
int write_dye_hits(__u64 parent_sequence, bool written);

static __always_inline void begin_dyes(struct dye_scan *scan)
{
	scan->hits = 0;
	scan->dropped = 0;
	scan->compares = 0;
	scan->listed = 0;
	scan->table = *(volatile __u32 *)&dye_table_in_use;
}

static __always_inline void look_at_long_windows(const struct dye_table *table, const __u8 *bytes, __s32 from, const __u32 count)
{
	const __u64 *filter = table->long_filter;
	__u32 shift = table->long_shift;
	__u64 mask = 0;

#pragma unroll
	for (__u32 i = 0; i < count; i++) {
		mask |= dye_long_bit(filter, shift, dye_load8(bytes + i * DYE_LONG_WINDOW) | DYE_FOLD) << i;
		barrier(); /* one after another: there are few registers */
	}
	if (mask)
		compare_dyes(from, mask, DYE_LONG_WINDOW);
}

/* 64 of them. */
static __always_inline void look_at_short_windows(const struct dye_table *table, const __u8 *bytes, __s32 from)
{
	const __u64 *filter = table->short_filter;
	__u32 shift = table->short_shift;
	__u64 mask = 0;

#pragma unroll
	for (__u32 i = 0; i < DYE_STRETCH_BYTES; i++) {
		mask |= dye_short_bit(filter, shift, dye_load4(bytes + i) | DYE_FOLD_SHORT) << i;
		barrier();
	}
	if (mask)
		compare_dyes(from, mask, 1);
}

/* A step of content.bpf.c, which has got to `at`: the bytes in front of that. */
static __always_inline void look_for_dyes_before(struct dye_scan *scan, const __u8 *bytes, __u32 at)
{
	const struct dye_table *table = dye_table_of(scan);
	__s32 from = (__s32)at - DYE_STEP_BYTES;

	if (!table)
		return;
	if (table->patterns_by_long)
		look_at_long_windows(table, bytes, from, DYE_STEP_BYTES / DYE_LONG_WINDOW);
	if (table->patterns_by_short)
		for (__u32 i = 0; i < DYE_STEP_BYTES / DYE_STRETCH_BYTES; i++)
			look_at_short_windows(table, bytes + i * DYE_STRETCH_BYTES, from + i * DYE_STRETCH_BYTES);
}
