/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The buffer of a CPU, through which all bytes of an operation go that are looked at: for fingerprints, anchors and dyes.
 *
 *   | before, 512 bytes |  what was copied after it  ...            |
 *                       0          at       at+256               filled          positions in the buffer; base + 0 is the one in
 *                                  |~~~~~~~~~~~|                                 the operation
 *                                    one step
 *
 * When all whole steps are taken, what is left becomes the first bytes, and what was in front of it `before`: all that a dye or an
 * anchor around a step needs is there. Limits: nothing is found across bytes that could not be read.
 */
#pragma once

#include "kernel/content/anchor.h"
#include "kernel/content/byte_walk.h"
#include "kernel/content/dye.h"

#define STEP_BYTES 256
#define BUFFER_BYTES 65536 /* power of two */
#define BUFFER_MASK (BUFFER_BYTES - 1)
#define BEFORE_BYTES (2 * DYE_BYTES_MAX)

struct content_buffer {
	__u64 lanes[4];
	__u64 total; /* bytes taken into lanes or the rest */
	__u64 wanted; /* bytes of the call */
	struct byte_walk walk; /* what was not copied yet; of pages a piece is a position in the file */
	__u64 unread;
	__u64 mapping; /* whose pages they are; 0: user memory */
	__s64 base; /* position in the operation of the buffer's byte 0 */
	__u32 at; /* of the next byte to take */
	__u32 filled;
	__s32 known_from; /* what is before it does not belong to the same run of bytes */
	bool moved; /* the first bytes are in `first` */
	bool missed; /* some could be read by whom may wait for them: a fault would bring them into memory */
	__u64 met[4]; /* a bit per byte value, while a sample is looked at */
	struct anchor_scan anchors;
	struct sketch_buffer sketch;
	struct dye_scan dyes;
	__u8 first[DYE_BYTES_MAX];
	__u8 before[BEFORE_BYTES];
	__u8 bytes[BUFFER_BYTES + STEP_BYTES];
};

/* How many byte values there are among 64 bytes, the most of two samples; 0: there are no such. In spread.bpf.c. */
int look_at_spread(void);

/* One element per CPU: a per-CPU value has 32 KiB at most. Sized when there is something to look at. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* src/capture: 1 per CPU */
	__type(key, __u32);
	__type(value, struct content_buffer);
} content_buffers SEC(".maps");

static __always_inline struct content_buffer *cpu_buffer(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&content_buffers, &cpu);
}

/* Whether what is in front of a step, and the first and last bytes of a call, are wanted. */
static __always_inline bool keeps_neighbours(void)
{
	return look_for_dyes || content_level >= CONTENT_LEVEL_ANCHORS;
}

/* So many bytes at a position in the buffer, `before` too. */
static __always_inline const __u8 *buffer_byte(struct content_buffer *buffer, __s32 at, __u32 bytes)
{
	__u64 offset = (__u32)(at + BEFORE_BYTES);

	opaque(offset);
	if (offset > sizeof(buffer->before) + sizeof(buffer->bytes) - bytes)
		return NULL;
	opaque(offset); /* or the sum may be made first, of what the verifier knows no limit of */
	return buffer->before + offset;
}

/* The buffer's bytes from `at` on are about to become its first. */
static __always_inline void move_buffer(struct content_buffer *buffer, __u32 at)
{
	if (!buffer->moved)
		bpf_probe_read_kernel(buffer->first, DYE_BYTES_MAX, buffer->bytes);
	buffer->moved = true;
	bpf_probe_read_kernel(buffer->before, BEFORE_BYTES, buffer->before + (at & BUFFER_MASK));
	buffer->base += at;
	buffer->known_from -= (__s32)at;
	if (buffer->known_from < -BEFORE_BYTES)
		buffer->known_from = -BEFORE_BYTES;
}

/* So many bytes, after what the buffer is filled with, could not be read. */
static __always_inline void break_buffer(struct content_buffer *buffer, __u32 filled, __u32 bytes)
{
	if (look_for_dyes)
		look_for_last_dyes();
	if (content_level >= CONTENT_LEVEL_ANCHORS)
		look_for_last_anchors();
	buffer->base += bytes;
	buffer->known_from = filled;
}

/* Position of the lowest bit that is set; BPF has no instruction for it. */
static const __u8 bit_positions[64] = { 0,  1,	56, 2,	57, 49, 28, 3,	61, 58, 42, 50, 38, 29, 17, 4,	62, 47, 59, 36, 45, 43,
					51, 22, 53, 39, 33, 30, 24, 18, 12, 5,	63, 55, 48, 27, 60, 41, 37, 16, 46, 35, 44, 21,
					52, 32, 23, 11, 54, 26, 40, 15, 34, 20, 31, 10, 25, 14, 19, 9,	13, 8,	7,  6 };

static __always_inline __u32 lowest_bit(__u64 mask)
{
	return bit_positions[(mask & -mask) * 0x03f79d71b4ca8b09ULL >> 58];
}
