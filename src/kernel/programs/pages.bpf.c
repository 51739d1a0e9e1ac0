/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds page_base, once, before anything is recorded: src/capture makes a file in memory with one page of random bytes, and
 * this looks for them wherever the kernel may have them mapped. Its map of all memory begins at a multiple of 1 GiB, and so
 * does that of struct pages, which is a 64th: what is not known is a multiple of 1 GiB.
 */
#include "kernel/iterators.h"
#include "kernel/helpers/object.h"
#include "kernel/helpers/pages.h"

#define MAP_STEP_BITS 30
#define MAP_STEPS_MAX (1 << 14) /* up and down from an address in the map: memory of 16 TiB */
#define SAMPLES 16 /* words of the page, 256 bytes apart */

__u32 sample_fd; /* of the file */
__u64 sample_words[SAMPLES]; /* what the page has at each sample */

struct base_search {
	__u64 near; /* an address in the map of all memory */
	__u64 page; /* address of the struct page */
};

static __always_inline bool has_samples(__u64 address)
{
	__u64 word = 0;

	for (int i = 0; i < SAMPLES; i++) {
		if (bpf_probe_read_kernel(&word, sizeof(word), (void *)(address + i * (PAGE_BYTES / SAMPLES))) ||
		    word != sample_words[i])
			return false;
	}
	return true;
}

static long try_base(__u32 index, void *context)
{
	struct base_search *search = context;
	__u64 within = (1ULL << MAP_STEP_BITS) - 1;
	__u64 distance = (__u64)((index + 1) / 2) << MAP_STEP_BITS; /* nearest first: 0, +1, -1, +2, … */
	__u64 address =
		(search->near & ~within) + (index & 1 ? distance : -distance) + (search->page << PAGE_STRUCT_BITS & within);

	if (!has_samples(address))
		return 0;
	page_base = address - (search->page << PAGE_STRUCT_BITS);
	page_base_known = true;
	return 1;
}

SEC("iter/task_file")
int find_page_base(struct bpf_iter__task_file *context)
{
	__u64 file = file_of(current_task(), sample_fd);
	struct base_search search = {};

	if (!file || context->fd != sample_fd || bpf_core_type_size(struct page) != 1 << PAGE_STRUCT_BITS)
		return 0;
	search.near = file; /* from the slab allocator, and so in the map */
	search.page = folio_at((__u64)READ(typed(file, file), f_mapping), 0);
	if (search.page)
		each_small_turn(2 * MAP_STEPS_MAX, 1, try_base, &search);
	return 0;
}
