/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * The texts that are looked for, as one flat table that the kernel and the recorder walk with the same code. src/capture
 * builds it; hand-written, because it never leaves the machine.
 *
 *   bytes ──► window ──► filter: a bit or two ──► bucket ──► its nodes ──► pattern, compared byte by byte
 *             8 bytes at every 8th position: patterns of 15 bytes or more, wherever they begin one of their windows is met
 *             4 bytes at every position: the others, and those that share their windows with too many
 *
 *   pattern   c a r d = 4 9 2 9 1 2 3 4 5 6 7          nodes: (window at offset 3, 3), (at 4, 4) … (at 10, 10)
 *                   |-------------|                    whatever the alignment, one of these begins at a multiple of 8
 *
 * Windows are folded (a bit that tells small from capital letters is set), so that patterns that ignore case are met too.
 */
#pragma once

// NOLINTBEGIN(readability-identifier-naming): BPF programs include this too; the names are the kernel's

#ifdef __cplusplus
#include <linux/types.h>

#include <cstring>
#endif

enum {
    DYE_BYTES_MIN = 4,   /* a window */
    DYE_BYTES_MAX = 256, /* of a pattern; so much is kept in front of what is looked at, twice */
    DYE_LONG_BYTES =
        15, /* from here on a pattern has 8 windows of 8 bytes, one for each alignment */
    DYE_LONG_WINDOW = 8,
    DYE_SHORT_WINDOW = 4,
    DYE_ALIGNMENTS = 8,
    DYE_PATTERNS_MAX = 16384,                          /* power of two: forms of dyes */
    DYE_NODES_MAX = DYE_PATTERNS_MAX * DYE_ALIGNMENTS, /* windows */
    DYE_BUCKETS = DYE_NODES_MAX,
    DYE_BUCKET_SHIFT = 64 - 17,
    DYE_LONG_WORDS_MAX = 32768,  /* of 64 bits: 16 bits for each of the most windows; 256 KiB */
    DYE_SHORT_WORDS_MAX = 16384, /* 64 bits for each of the most patterns; 128 KiB */
    DYE_CHAIN_MAX =
        256, /* nodes of a bucket that are compared; what comes after them is counted as dropped */
};

struct dye_node {
    __u64 window; /* folded */
    __u32 pattern;
    __u32 offset; /* of the window in the pattern */
};

struct dye_bucket {
    __u32 first; /* node */
    __u32 nodes;
};

struct dye_pattern {
    __u64 fold; /* all bits: letters are compared small; the text is small then. 0: as they are */
    __u32 dye;
    __u16 length;
    __u8 form; /* enum dye_form */
    __u8 reserved;
    __u8 text[DYE_BYTES_MAX];
};

struct dye_table {
    __u32 patterns_by_long; /* how many are looked for by 8-byte windows */
    __u32 patterns_by_short;
    __u32 long_shift;  /* 64 minus bits of an index of long_filter's words */
    __u32 short_shift; /* 64 minus bits of an index of short_filter's bits */
    __u32
        edge_bytes; /* longest pattern minus 1: what of a call may belong to an occurrence across its ends */
    __u32 reserved;
    __u64 long_filter[DYE_LONG_WORDS_MAX];
    __u64 short_filter[DYE_SHORT_WORDS_MAX];
    struct dye_bucket buckets[DYE_BUCKETS];
    struct dye_node nodes[DYE_NODES_MAX];
    struct dye_pattern patterns[DYE_PATTERNS_MAX];
};

#ifdef __cplusplus
static __always_inline __u64 dye_load8(const __u8* at) {
    __u64 value = 0;
    std::memcpy(&value, at, sizeof(value));
    return value;
}
static __always_inline __u32 dye_load4(const __u8* at) {
    __u32 value = 0;
    std::memcpy(&value, at, sizeof(value));
    return value;
}
#else
#define dye_load8(at) (*(const __u64*)(at))
#define dye_load4(at) (*(const __u32*)(at))
#endif

#define DYE_FOLD 0x2020202020202020ULL
#define DYE_FOLD_SHORT 0x20202020u

static __always_inline __u64 dye_mixed(__u64 window) {
    return window * 0x9e3779b97f4a7c15ULL; /* 2^64 / golden ratio */
}

/* 1 if the folded window may be one of the table's. */
static __always_inline __u64 dye_long_bit(const __u64* long_filter,
                                          __u32 long_shift,
                                          __u64 window) {
    __u64 mixed = dye_mixed(window);
    __u64 word = long_filter[(mixed >> long_shift) & (DYE_LONG_WORDS_MAX - 1)];

    return (word >> ((mixed >> 40) & 63)) & (word >> ((mixed >> 34) & 63)) & 1;
}

static __always_inline __u64 dye_short_bit(const __u64* short_filter,
                                           __u32 short_shift,
                                           __u32 window) {
    __u64 bit = dye_mixed(window) >> short_shift;

    return short_filter[(bit >> 6) & (DYE_SHORT_WORDS_MAX - 1)] >> (bit & 63) & 1;
}

static __always_inline __u32 dye_bucket_of(__u64 window) {
    return (__u32)(dye_mixed(window ^ window >> 29) >> DYE_BUCKET_SHIFT);
}

/* Capital letters made small, in all bytes whose bits are set in `fold`; what is not ASCII stays. */
static __always_inline __u64 dye_small(__u64 word, __u64 fold) {
    __u64 low = word & 0x7f7f7f7f7f7f7f7fULL;
    __u64 above_z = low + 0x2525252525252525ULL; /* bit 7: > 'Z' */
    __u64 from_a = low + 0x3f3f3f3f3f3f3f3fULL;  /* bit 7: >= 'A' */
    __u64 capital = ~word & (from_a ^ above_z) & 0x8080808080808080ULL;

    return word | (capital >> 2 & fold);
}

/* Whether the bytes are the pattern. `bytes` must have DYE_BYTES_MAX bytes that may be read, whatever they are. */
static __always_inline bool dye_equals(const __u8* bytes, const struct dye_pattern* pattern) {
    __u32 length = pattern->length;
    __u64 fold = pattern->fold;

    if (length < DYE_LONG_WINDOW) {
        if (length < DYE_SHORT_WINDOW) return false;
        length -= DYE_SHORT_WINDOW; /* of the second, overlapping half */
        length &= 3;
        return dye_small(dye_load4(bytes), fold) == dye_load4(pattern->text) &&
               dye_small(dye_load4(bytes + length), fold) == dye_load4(pattern->text + length);
    }
    for (__u32 at = 0; at + DYE_LONG_WINDOW <= DYE_BYTES_MAX; at += DYE_LONG_WINDOW) {
        if (at + DYE_LONG_WINDOW > length) break;
        if (dye_small(dye_load8(bytes + at), fold) != dye_load8(pattern->text + at)) return false;
    }
    length -= DYE_LONG_WINDOW;
    if (length > DYE_BYTES_MAX - DYE_LONG_WINDOW) return false;
    return dye_small(dye_load8(bytes + length), fold) == dye_load8(pattern->text + length);
}

// NOLINTEND(readability-identifier-naming)
