/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * With a key, a fingerprint is SipHash-2-4 of the plain one: who has the trace and not the key cannot try guesses at the
 * content, which a seed would not keep him from (XXH64 gives its seed away with one known content). Shared by BPF C and C++.
 */
#pragma once

#ifdef __cplusplus
#include <linux/types.h>
#endif

#define KEYED_ROTATED(value, bits) ((value) << (bits) | (value) >> (64 - (bits)))
#define KEYED_ROUND                                                            \
    do {                                                                       \
        v0 += v1, v1 = KEYED_ROTATED(v1, 13) ^ v0, v0 = KEYED_ROTATED(v0, 32); \
        v2 += v3, v3 = KEYED_ROTATED(v3, 16) ^ v2;                             \
        v0 += v3, v3 = KEYED_ROTATED(v3, 21) ^ v0;                             \
        v2 += v1, v1 = KEYED_ROTATED(v1, 17) ^ v2, v2 = KEYED_ROTATED(v2, 32); \
    } while (0)

/* SipHash-2-4 (Aumasson, Bernstein 2012) of the eight bytes of `value`, little-endian. */
static __always_inline __u64 keyed(__u64 value, __u64 key0, __u64 key1) {
    __u64 v0 = key0 ^ 0x736f6d6570736575ULL, v1 = key1 ^ 0x646f72616e646f6dULL;
    __u64 v2 = key0 ^ 0x6c7967656e657261ULL, v3 = key1 ^ 0x7465646279746573ULL;
    const __u64 length = 8ULL << 56;

    v3 ^= value;
    KEYED_ROUND;
    KEYED_ROUND;
    v0 ^= value;
    v3 ^= length;
    KEYED_ROUND;
    KEYED_ROUND;
    v0 ^= length;
    v2 ^= 0xff;
    KEYED_ROUND;
    KEYED_ROUND;
    KEYED_ROUND;
    KEYED_ROUND;
    return v0 ^ v1 ^ v2 ^ v3;
}
