/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * How an attachment `preview` or `structure` begins: which argument of the call its content was found at. Shared by BPF C, which
 * writes it, and C++, which shows it.
 *
 *   | u8 argument and marks | 7 bytes of 0 | content … |
 */
#pragma once

#define PREVIEW_AFTER 0x80 /* what the call wrote over, as it was at exit; without it: at entry */
#define PREVIEW_CONTROL \
    0x40 /* what it points to: the control data of a message, a set of signals */
#define PREVIEW_MESSAGE_SHIFT \
    3 /* of several messages: number of this one, from 1. With PREVIEW_AFTER its name, with both bits its length */

/*
 * The `preview` of a vector: bytes of each of its parts (u16), then these, one part after the other.
 */
#define PREVIEW_VECTORS_MAX 16 /* parts that are shown; a power of two */
#define PREVIEW_LENGTHS_BYTES (PREVIEW_VECTORS_MAX * 2)
