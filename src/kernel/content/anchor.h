/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Anchors of what a call moves (content/anchor.h), in the buffer through which content.bpf.c takes its bytes. What crosses the border of
 * two calls is found by src/capture, as dyes are.
 *
 * Beside them goes the sum of all bytes (content/sum.h); with each anchor stands what it was at the end of its window, so that the sum of
 * any stretch between two anchors follows, of one call or of many.
 *
 * An operation that would have few anchors has a sketch too (content/sketch.h): among the same windows, of which more are taken then.
 *
 * Limits: 65,536 anchors of a call, of 64 MiB at the usual distance; those after them are counted as dropped. A window that is also one of the
 * two before it, in bytes that repeat, is no anchor of its own.
 */
#pragma once

#include "kernel/helpers/call.h"
#include "content/anchor.h"
#include "schema/generated/records.bpf.h"
#include "content/sketch.h"
#include "content/sum.h"

#define ANCHOR_STRETCH_BYTES 64
#define ANCHOR_STEP_BYTES 256

/* In the upper half of each number: what is shifted out there is gone, and there are no registers of 32 bits to spare. */
const volatile __u64 anchor_gear[256];
const volatile __u64 anchor_threshold;

struct anchor_scan {
	__u64 ends; /* of windows, among 64 bytes; 0 again when they are taken */
	__u64 hashes[ANCHOR_STRETCH_BYTES]; /* at these ends; right after `ends`, as ANCHOR_BYTE knows */
	__u64 threshold; /* of the operation: of its sketch, if it has one */
	__u64 last[2]; /* fingerprints of anchors */
	__u64 sketch_last[2]; /* of windows in the sketch */
	__u64 dropped;
	__u64 hash; /* in the upper half */
	__u64 sums[2]; /* high and low, of what is in front of the stretch; not the smallest numbers that they may be */
	__u64 sum; /* content/sum.h, as sum_up_to() left it */
	__u32 listed;
	__u32 from; /* of the stretch that is looked at next, at the end of a call */
	__u64 fingerprint; /* of the window that is taken */
	__u32 end; /* its last byte in the stretch */
};

/* A sketch as it goes into the ring. */
struct sketch_buffer {
	struct sketch_fact record;
	struct attachment_header header;
	__u32 windows[SKETCH_WINDOWS_MAX];
	__u32 count; /* may be more than there is room for: then it is dropped */
};

struct anchor_listed {
	__s64 position; /* in the operation */
	__u64 fingerprint;
	__u64 prefix_sum;
};

/* By CPU and number. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* src/capture: ANCHORS_LISTED_MAX per CPU */
	__type(key, __u32);
	__type(value, struct anchor_listed);
} anchor_lists SEC(".maps");

/* Bit i: a window ends with the buffer's byte from + i. */
int take_anchors(__s32 from, __u64 mask);

/* Looks at the bytes that no step has taken; in the end scan->sum is that of all bytes. */
int look_for_last_anchors(void);

/* Writes them after the event, or part, that moved them; not if that could not be written itself. */
int write_anchors(__u64 parent_sequence, bool written);

/* A sum gives away what a key is to hide: who knows the content but for a few bytes can compute these. */
static __always_inline bool records_sums(void)
{
	return content_level >= CONTENT_LEVEL_ANCHORS && !content_keyed;
}

static __always_inline void begin_anchors(struct anchor_scan *scan, struct sketch_buffer *sketch, __u64 bytes)
{
	__u32 distance = sketch_distance(bytes);
	__u64 threshold = distance ? ((1ULL << 32) / distance) << 32 : 0;

	scan->threshold = anchor_threshold;
	sketch->record.distance = 0;
	sketch->count = 0;
	if (threshold > anchor_threshold) {
		scan->threshold = threshold;
		sketch->record.distance = distance;
	}
	scan->sketch_last[0] = 0;
	scan->sketch_last[1] = 0;
	scan->last[0] = 0;
	scan->last[1] = 0;
	scan->dropped = 0;
	scan->hash = 0;
	scan->sums[0] = 0;
	scan->sums[1] = 0;
	scan->listed = 0;
}

/*
 * Byte i of 64: the hash goes on, and if it is below the threshold it is kept and bit i is set in scan->ends, in memory, so that the
 * verifier need not tell one set of ends from another. From C the compiler makes nearly twice as many instructions, because it would rather have no branch.
 */
#define ANCHOR_BYTE(i)                                                                                                           \
	asm volatile("%[next] = *(u8 *)(%[bytes] + %[at])\n\t"                                                                   \
		     "%[next] <<= 3\n\t"                                                                                         \
		     "%[next] += %[gear]\n\t"                                                                                    \
		     "%[next] = *(u64 *)(%[next] + 0)\n\t"                                                                       \
		     "%[hash] <<= 1\n\t"                                                                                         \
		     "%[hash] += %[next]\n\t"                                                                                    \
		     "if %[hash] >= %[threshold] goto +4\n\t"                                                                    \
		     "*(u64 *)(%[ends] + %[slot]) = %[hash]\n\t"                                                                 \
		     "%[next] = *(u32 *)(%[ends] + %[word])\n\t"                                                                 \
		     "%[next] |= %[bit]\n\t"                                                                                     \
		     "*(u32 *)(%[ends] + %[word]) = %[next]"                                                                     \
		     : [next] "=&r"(next), [hash] "+r"(hash)                                                                     \
		     : [bytes] "r"(bytes), [gear] "r"(gear), [threshold] "r"(threshold), [ends] "r"(ends), [at] "i"(i),          \
		       [slot] "i"(8 + (i)*8), [word] "i"((i) / 32 * 4), [bit] "i"((__s32)(1U << ((i) % 32)))                     \
		     : "memory")
#define ANCHOR_BYTES_4(i)                                                                                                        \
	ANCHOR_BYTE(i);                                                                                                          \
	ANCHOR_BYTE(i + 1);                                                                                                      \
	ANCHOR_BYTE(i + 2);                                                                                                      \
	ANCHOR_BYTE(i + 3)
#define ANCHOR_BYTES_16(i)                                                                                                       \
	ANCHOR_BYTES_4(i);                                                                                                       \
	ANCHOR_BYTES_4(i + 4);                                                                                                   \
	ANCHOR_BYTES_4(i + 8);                                                                                                   \
	ANCHOR_BYTES_4(i + 12)

/* Which of 64 bytes end a window. */
static __always_inline __u64 anchors_in(struct anchor_scan *scan, const __u8 *bytes, __u64 *state)
{
	__u64 hash = *state, threshold = scan->threshold, next, found;
	const volatile __u64 *gear = anchor_gear;
	__u64 *ends = &scan->ends;

	_Static_assert(__builtin_offsetof(struct anchor_scan, hashes) == __builtin_offsetof(struct anchor_scan, ends) + 8,
		       "ANCHOR_BYTE");
	ANCHOR_BYTES_16(0);
	ANCHOR_BYTES_16(16);
	ANCHOR_BYTES_16(32);
	ANCHOR_BYTES_16(48);
	*state = hash;
	found = *(volatile __u64 *)ends;
	if (found)
		*ends = 0;
	return found;
}

static __always_inline __u64 sum_word(const __u8 *bytes, int i)
{
	return __builtin_bswap32(((const __u32 *)bytes)[i]);
}

/* Four words as a number; each step is 2^32 modulo the prime. */
static __always_inline __u64 sum_of_words(const __u64 words[4], __u64 step)
{
	return ((words[0] * step + words[1]) * step + words[2]) * step + words[3];
}

/* A number of less than 64 bits modulo the prime, in 33 bits. */
static __always_inline __u64 sum_folded(__u64 number, __u64 step)
{
	return (number & 0xffffffff) + (number >> 32) * step;
}

/* The 64 bytes of a stretch go after what is summed: by 16 bytes, which do not wait for each other. */
static __always_inline void add_to_sums(struct anchor_scan *scan, const __u8 *bytes)
{
	__u64 high = scan->sums[0], low = scan->sums[1];

	opaque(bytes); /* or they are read by way of a place before the buffer, which kernels since 7.0 take for none at all */
	for (int i = 0; i < ANCHOR_STRETCH_BYTES / 4; i += 4) {
		__u64 words[4] = { sum_word(bytes, i), sum_word(bytes, i + 1), sum_word(bytes, i + 2), sum_word(bytes, i + 3) };

		high = high * (SUM_STEP_HIGH * SUM_STEP_HIGH * SUM_STEP_HIGH * SUM_STEP_HIGH) +
		       sum_of_words(words, SUM_STEP_HIGH);
		low = low * (SUM_STEP_LOW * SUM_STEP_LOW * SUM_STEP_LOW * SUM_STEP_LOW) + sum_of_words(words, SUM_STEP_LOW);
		low = sum_folded(low, SUM_STEP_LOW);
		if (i % 8)
			high = sum_folded(high, SUM_STEP_HIGH);
	}
	scan->sums[0] = high;
	scan->sums[1] = low;
}

/* A step of content.bpf.c: the buffer's bytes from `at` on. */
static __always_inline void look_for_anchors(struct anchor_scan *scan, const __u8 *bytes, __u32 at)
{
	__u64 hash = scan->hash;

	for (__u32 i = 0; i < ANCHOR_STEP_BYTES; i += ANCHOR_STRETCH_BYTES) {
		__u64 mask = anchors_in(scan, bytes + i, &hash);

		if (mask)
			take_anchors(at + i, mask);
		add_to_sums(scan, bytes + i);
	}
	scan->hash = hash;
}
