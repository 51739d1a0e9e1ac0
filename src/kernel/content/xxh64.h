/* SPDX-License-Identifier: GPL-2.0 */
/* Parts of XXH64 (github.com/Cyan4973/xxHash, doc/xxhash_spec.md), seed 0, and what a key makes of it. */
#pragma once

#include "kernel/memory/settings.h"
#include "content/keyed.h"

#define PRIME_1 11400714785074694791ULL
#define PRIME_2 14029467366897019727ULL
#define PRIME_3 1609587929392839161ULL
#define PRIME_4 9650029242287828579ULL
#define PRIME_5 2870177450012600261ULL

#define STRIPE_BYTES 32

static __always_inline __u64 rotated(__u64 value, int bits)
{
	return value << bits | value >> (64 - bits);
}

static __always_inline __u64 rounded(__u64 lane, __u64 input)
{
	return rotated(lane + input * PRIME_2, 31) * PRIME_1;
}

static __always_inline __u64 merged(__u64 hash, __u64 lane)
{
	return (hash ^ rounded(0, lane)) * PRIME_1 + PRIME_4;
}

static __always_inline void take_stripe(__u64 lanes[4], const __u8 *stripe)
{
	lanes[0] = rounded(lanes[0], ((const __u64 *)stripe)[0]);
	lanes[1] = rounded(lanes[1], ((const __u64 *)stripe)[1]);
	lanes[2] = rounded(lanes[2], ((const __u64 *)stripe)[2]);
	lanes[3] = rounded(lanes[3], ((const __u64 *)stripe)[3]);
}

static __always_inline void begin_lanes(__u64 lanes[4])
{
	lanes[0] = PRIME_1 + PRIME_2;
	lanes[1] = PRIME_2;
	lanes[2] = 0;
	lanes[3] = -PRIME_1;
}

static __always_inline __u64 joined(const __u64 lanes[4])
{
	__u64 hash = rotated(lanes[0], 1) + rotated(lanes[1], 7) + rotated(lanes[2], 12) + rotated(lanes[3], 18);

	hash = merged(hash, lanes[0]);
	hash = merged(hash, lanes[1]);
	hash = merged(hash, lanes[2]);
	return merged(hash, lanes[3]);
}

static __always_inline __u64 avalanched(__u64 hash)
{
	hash = (hash ^ hash >> 33) * PRIME_2;
	hash = (hash ^ hash >> 29) * PRIME_3;
	return hash ^ hash >> 32;
}

static __always_inline __u64 keyed_or_plain(__u64 hash)
{
	return content_keyed ? keyed(hash, content_key[0], content_key[1]) : hash;
}

/* Of 32 bytes. */
static __always_inline __u64 xxh64_of_stripe(const __u8 *bytes)
{
	__u64 lanes[4];

	begin_lanes(lanes);
	take_stripe(lanes, bytes);
	return keyed_or_plain(avalanched(joined(lanes) + STRIPE_BYTES));
}
