/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bytes of a file that are in memory, whoever maps them or not: sendfile and its kin move these and no program's buffer, and
 * most file systems keep the text of a symbolic link there.
 *
 *   mapping ──► xarray of folios ──► struct page ──► page_base + (address of struct page << 6)
 *
 * Both the kernel's map of all memory and its list of struct pages are linear, so that one number leads from a page to its
 * bytes. No variable of the kernel that says it can be read here; find_page_base looks for it.
 */
#pragma once

#include "kernel/helpers/xarray.h"

#define PAGE_STRUCT_BITS 6 /* sizeof(struct page) is 64 */

__u64 page_base;
bool page_base_known;

/* The folio that holds a page of a file; 0 where it is not in memory. */
static __always_inline __u64 folio_at(__u64 mapping, __u64 index)
{
	return xarray_entry(mapping + bpf_core_field_offset(struct address_space, i_pages.xa_head), index,
			    PAGE_LEVELS_MAX); /* a value: the page was evicted */
}

/* Whether the folio holds this page of the file, and which of its own that is. */
static __always_inline bool holds_page(__u64 folio_address, __u64 mapping, __u64 index, __u64 *page_of_folio)
{
	struct folio *folio = typed(folio, folio_address);

	*page_of_folio = index - READ(folio, index);
	return (__u64)READ(folio, mapping) == mapping && *page_of_folio < 1 << 18; /* 1 GiB, the largest folio */
}

/* Where a byte of a file is in memory, and the folio that holds it; 0: it is not in memory. */
static __always_inline __u64 byte_at(__u64 mapping, __u64 position, __u64 *folio)
{
	__u64 index = position >> PAGE_BITS, page;

	if (!page_base_known || !bpf_core_type_exists(struct folio)) /* before 5.16 */
		return 0;
	*folio = folio_at(mapping, index);
	if (!*folio || !holds_page(*folio, mapping, index, &page))
		return 0;
	page = *folio + (page << PAGE_STRUCT_BITS);
	return page_base + (page << PAGE_STRUCT_BITS) + (position & (PAGE_BYTES - 1));
}

/* Copies from one page of a file; false if it is not in memory, or was taken out of it meanwhile. */
static __always_inline bool read_page(__u8 *to, __u32 bytes, __u64 mapping, __u64 position)
{
	__u64 folio, page, address = byte_at(mapping, position, &folio);

	return address && !bpf_probe_read_kernel(to, bytes, (void *)address) &&
	       holds_page(folio, mapping, position >> PAGE_BITS, &page);
}
