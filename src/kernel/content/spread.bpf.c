/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How random the bytes of an operation look: the number of byte values among 64 bytes that lie together. What was compressed or encrypted has
 * 57 on average and hardly ever less than 48, text 20 to 35. Two samples, because what frames a content is often text or zeros:
 *
 *   | 192 bytes: a head | 64 |  ...                                 | 64 |
 */
#include "kernel/content/buffer.h"

#define SAMPLE_BYTES 64
#define SAMPLE_HEAD_BYTES (DYE_BYTES_MAX - SAMPLE_BYTES) /* the last bytes that `first` has */

static __always_inline __u32 distinct_values(struct content_buffer *buffer, const __u8 *bytes)
{
	__u64 *met = buffer->met;

	met[0] = met[1] = met[2] = met[3] = 0;
	for (int i = 0; i < SAMPLE_BYTES; i++)
		met[bytes[i] >> 6] |= 1ULL << (bytes[i] & 63);
	return __builtin_popcountll(met[0]) + __builtin_popcountll(met[1]) + __builtin_popcountll(met[2]) +
	       __builtin_popcountll(met[3]);
}

__noinline int look_at_spread(void)
{
	struct content_buffer *buffer = cpu_buffer();
	__u32 most = 0, distinct;
	const __u8 *last;

	if (!buffer || buffer->unread || buffer->total < SAMPLE_BYTES)
		return 0;
	if (buffer->total >= DYE_BYTES_MAX)
		most = distinct_values(buffer, (buffer->moved ? buffer->first : buffer->bytes) + SAMPLE_HEAD_BYTES);
	last = buffer_byte(buffer, (__s32)buffer->filled - SAMPLE_BYTES, SAMPLE_BYTES);
	if (last) {
		distinct = distinct_values(buffer, last);
		if (distinct > most)
			most = distinct;
	}
	return most;
}
