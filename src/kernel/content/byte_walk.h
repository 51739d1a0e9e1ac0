/* SPDX-License-Identifier: GPL-2.0 */
/* Where the bytes of a call lie in its program's memory: one buffer, or iovecs, its own or a message's; taken piece by piece. */
#pragma once

#include "kernel/helpers/call.h"

struct byte_walk {
	__u64 left; /* bytes of the call that were not taken yet */
	__u64 vector; /* address of the next iovec */
	__u64 parts; /* iovecs that are left */
	__u64 piece; /* address of what is next */
	__u64 piece_bytes;
	bool compat;
};

static __always_inline void begin_walk(struct byte_walk *walk, __u64 bytes)
{
	walk->left = bytes;
	walk->vector = 0;
	walk->parts = 0;
	walk->piece = 0;
	walk->piece_bytes = 0;
	walk->compat = false;
}

/* What TCP is told to drop without giving it to anybody: the memory that a read names stays what it was. */
static __always_inline bool is_dropped(const struct syscall_event *event, const volatile struct syscall_shape *shape)
{
	return shape->flags & CALL_INBOUND && shape->message_flags && event->present & SYSCALL_HAS_STREAM_OFFSET &&
	       argument(event, shape->message_flags) & MSG_TRUNC;
}

/* False: nowhere that is known. */
static __always_inline bool find_bytes(struct byte_walk *walk, const struct syscall_event *event,
				       const volatile struct syscall_shape *shape)
{
	struct message message;

	walk->compat = event->abi == ABI_COMPAT;
	if (is_dropped(event, shape))
		return false;
	if (shape->vector) {
		walk->vector = argument(event, shape->vector);
		walk->parts = argument(event, shape->vector + 1);
	} else if (shape->message) {
		if (!read_message(&message, argument(event, shape->message), walk->compat))
			return false;
		walk->vector = message.vector;
		walk->parts = message.parts;
	} else {
		for (int i = 0; i < 6; i++) {
			if (shape->capture[i] == CAPTURE_BYTES) {
				/* System V: the message's type, a long, comes first */
				walk->piece = event->arguments[i] + (shape->flags & CALL_TYPED ? (walk->compat ? 4 : 8) : 0);
				/* MSG_TRUNC returns more than there was room for */
				walk->piece_bytes = event->requested < walk->left ? event->requested : walk->left;
				return true;
			}
		}
		return false;
	}
	return true;
}

static __always_inline __u32 iovec_bytes(const struct byte_walk *walk)
{
	return walk->compat ? 2 * sizeof(__u32) : 2 * sizeof(__u64);
}

/* Goes on with the iovec in `part`, as it lies in memory. */
static __always_inline void take_iovec(struct byte_walk *walk, const __u64 part[2])
{
	walk->parts--;
	walk->vector += iovec_bytes(walk);
	walk->piece = walk->compat ? (__u32)part[0] : part[0];
	walk->piece_bytes = walk->compat ? part[0] >> 32 : part[1];
}

static __always_inline __u32 piece_to_take(const struct byte_walk *walk, __u32 most)
{
	__u32 wanted = most;

	if (wanted > walk->piece_bytes)
		wanted = walk->piece_bytes;
	if (wanted > walk->left)
		wanted = walk->left;
	return wanted;
}

static __always_inline void end_piece(struct byte_walk *walk, __u32 bytes)
{
	walk->piece += bytes;
	walk->piece_bytes -= bytes;
	walk->left -= bytes;
}
