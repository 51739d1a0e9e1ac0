/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Looks up what an xarray of the kernel (linux/xarray.h) has at an index: a page of a file, a process by its number.
 *
 *   xa_head ──► node, shift 12 ──► node, shift 6 ──► node, shift 0 ──► entry
 *                  64 slots
 */
#pragma once

#include "kernel/kernel_types.h"

#define XARRAY_BITS 6 /* slots of a node */
#define XARRAY_SLOTS (1 << XARRAY_BITS)
#define PAGE_LEVELS_MAX 9 /* 2^54 pages, more than a file has */
#define PID_LEVELS_MAX 4 /* 2^24 numbers; PID_MAX_LIMIT is 2^22 */

/* Entries say in their lowest bits what they are. */
static __always_inline bool is_node(__u64 entry)
{
	return (entry & 3) == 2 && entry > PAGE_BYTES;
}

static __always_inline bool is_sibling(__u64 entry)
{
	return (entry & 3) == 2 && entry < (XARRAY_SLOTS << 2);
}

static __always_inline __u64 slot_at(__u64 node, __u32 slot)
{
	return number_at(node + bpf_core_field_offset(struct xa_node, slots) + (slot & (XARRAY_SLOTS - 1)) * sizeof(void *));
}

/* The pointer there, at most `levels` deep; 0: none, or a value (1 in its lowest bit). */
static __always_inline __u64 xarray_entry(__u64 head, __u64 index, int levels)
{
	__u64 entry = number_at(head), node;
	__u32 shift;

	for (int level = 0; level < levels && is_node(entry); level++) {
		node = entry - 2;
		shift = READ(typed(xa_node, node), shift);
		if (level == 0 && index >> shift >> XARRAY_BITS)
			return 0;
		entry = slot_at(node, index >> shift);
		if (is_sibling(entry))
			entry = slot_at(node, entry >> 2);
	}
	return entry & 3 ? 0 : entry;
}
