/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bytes of a file that are in memory, whoever maps them or not: sendfile and its kin move these and no program's buffer.
 *
 *   mapping ──► xarray of folios ──► struct page ──► page_base + (address of struct page << 6)
 *
 * Both the kernel's map of all memory and its list of struct pages are linear, so that one number leads from a page to its
 * bytes. No variable of the kernel that says it can be read here; find_page_base looks for it.
 */
#pragma once

#include "kernel/kernel_types.h"

#define PAGE_STRUCT_BITS 6 /* sizeof(struct page) is 64 */
#define XARRAY_BITS 6 /* slots of a node */
#define XARRAY_SLOTS (1 << XARRAY_BITS)
#define XARRAY_LEVELS_MAX 9 /* 2^54 pages, more than a file has */

__u64 page_base;
bool page_base_known;

/* Entries of an xarray say in their lowest bits what they are (linux/xarray.h). */
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

/* The folio that holds a page of a file; 0 where it is not in memory. */
static __always_inline __u64 folio_at(__u64 mapping, __u64 index)
{
	__u64 entry = number_at(mapping + bpf_core_field_offset(struct address_space, i_pages.xa_head)), node;
	__u32 shift;

	for (int level = 0; level < XARRAY_LEVELS_MAX && is_node(entry); level++) {
		node = entry - 2;
		shift = READ(typed(struct xa_node, node), shift);
		if (level == 0 && index >> shift >> XARRAY_BITS)
			return 0;
		entry = slot_at(node, index >> shift);
		if (is_sibling(entry))
			entry = slot_at(node, entry >> 2);
	}
	return entry & 3 ? 0 : entry; /* 1 in the lowest bit: the page was evicted */
}

/* Whether the folio holds this page of the file, and which of its own that is. */
static __always_inline bool holds_page(__u64 folio_address, __u64 mapping, __u64 index, __u64 *page_of_folio)
{
	struct folio *folio = typed(struct folio, folio_address);

	*page_of_folio = index - READ(folio, index);
	return (__u64)READ(folio, mapping) == mapping && *page_of_folio < 1 << 18; /* 1 GiB, the largest folio */
}

/* Copies from one page of a file; false if it is not in memory, or was taken out of it meanwhile. */
static __always_inline bool read_page(__u8 *to, __u32 bytes, __u64 mapping, __u64 position)
{
	__u64 index = position >> PAGE_BITS, folio, page;

	if (!page_base_known)
		return false;
	folio = folio_at(mapping, index);
	if (!folio || !holds_page(folio, mapping, index, &page))
		return false;
	page = folio + (page << PAGE_STRUCT_BITS);
	if (bpf_probe_read_kernel(to, bytes, (void *)(page_base + (page << PAGE_STRUCT_BITS) + (position & (PAGE_BYTES - 1)))))
		return false;
	return holds_page(folio, mapping, index, &page);
}
