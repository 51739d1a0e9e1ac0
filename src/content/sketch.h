/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * A sketch: what an operation has besides its anchors if these would be few. Its windows are chosen as anchors are, but so many of them
 * that there are some 32 to 64, whatever the size. Shared by BPF C and C++; docs/content.md says it bit by bit.
 *
 *   bytes moved     512 to 4 KiB     to 8 KiB     to 16 KiB     to 32 KiB     more
 *   a window per              64          128           256           512     (no sketch: anchors are enough)
 *
 * A window is known by 32 bits: its level, and 30 bits of its fingerprint. Who has level n is also in a sketch with a window per
 * 64 << n bytes, or fewer: so sketches of operations of different sizes are compared by the windows that both would have chosen.
 */
#pragma once

#ifdef __cplusplus
#include <linux/types.h>
#endif

#define SKETCH_DISTANCE_MIN 64 /* bytes; also the smallest --anchor-distance */
#define SKETCH_BYTES_MIN 512   /* of an operation; below it there would be too few to tell much */
#define SKETCH_BYTES_MAX 32768 /* above it the usual anchors are as many */
#define SKETCH_WINDOWS_MAX \
    128 /* twice what there are of random bytes; what has more has no sketch */
#define SKETCH_LEVEL_SHIFT 30

/* Mean distance of the windows of an operation that moved so many bytes; 0: it has no sketch. */
static __always_inline __u32 sketch_distance(__u64 bytes) {
    if (bytes < SKETCH_BYTES_MIN || bytes > SKETCH_BYTES_MAX) return 0;
    if (bytes > SKETCH_BYTES_MAX / 2) return 512;
    if (bytes > SKETCH_BYTES_MAX / 4) return 256;
    return bytes > SKETCH_BYTES_MAX / 8 ? 128 : 64;
}

/* How a window is known: `hash` is that at its end, 32 bits. */
static __always_inline __u32 sketch_window(__u32 hash, __u64 fingerprint) {
    __u32 level = 0;

    if (hash < 1U << 23)
        level = 3;
    else if (hash < 1U << 24)
        level = 2;
    else if (hash < 1U << 25)
        level = 1;
    return level << SKETCH_LEVEL_SHIFT | ((__u32)fingerprint & ((1U << SKETCH_LEVEL_SHIFT) - 1));
}
