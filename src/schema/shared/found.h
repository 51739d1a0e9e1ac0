/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * The attachments `content` and `dyes`: what was found in the bytes that a call moved. Shared by BPF C, which writes them, and
 * C++, which reads them (schema/record.h).
 */
#pragma once

#ifdef __cplusplus
#include <linux/types.h>
#endif

/* NOLINTBEGIN(readability-identifier-naming): BPF programs include this too; the names are the kernel's */

struct content_found {
    __u64 fingerprint; /* nothing where bytes are unread */
    __u64 unread_bytes;
    __u32 anchors_dropped; /* after the last that is in the trace */
    __u32 distinct_bytes;  /* byte values among 64 bytes; with anchors, 0: not looked at */
    __u64
        sum; /* content/content_sum.h; with anchors and without a key, nothing where bytes are unread. Older traces end before it */
};

struct dyes_found {           /* there where it is not nothing */
    __u64 hits;               /* occurrences */
    __u64 candidates_dropped; /* that were too many to be compared */
    __u64 unread_bytes;
};

/* NOLINTEND(readability-identifier-naming) */
