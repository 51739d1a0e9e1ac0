/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Bytes that a call moved, as the kernel hands them out with --content=bytes: in pieces, before the event that they belong
 * to, through a ring of their own. Shared by BPF C and C++; on disk they look otherwise (docs/trace_format.md).
 *
 *   | struct payload_piece | bytes | padding to 8 |
 */
#pragma once

#ifdef __cplusplus
#include <linux/types.h>
#endif

#define PAYLOAD_PIECE_BYTES_MAX \
    65536 /* with its header less than 66 KiB: the slack behind a ring's end */
#define PAYLOAD_SLACK_BYTES (66 * 1024)

// NOLINTNEXTLINE(readability-identifier-naming): BPF programs include this too; the name is the kernel's
struct payload_piece {
    __u32 size; /* bytes, with this and padding */
    __u16 reserved;
    __u16 reserved2;
    __u64 sequence;       /* of pieces, per CPU; lost ones too */
    __u64 event_sequence; /* of the event, on the same CPU */
    __u64 position;       /* of the first byte in what the call moved */
    __u32 length;         /* bytes */
    __u32 reserved3;
};
