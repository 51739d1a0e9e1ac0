/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Anchors: places that the content itself chooses, so that bytes are recognised after they were cut in another way, framed, shifted
 * or put after others. Shared by BPF C and C++; docs/content.md says it bit by bit.
 *
 *   hash = (hash << 1) + gear[byte]        32 bits: the sum of the last 32 bytes, older ones are shifted out
 *   hash < threshold                       an anchor: these 32 bytes are its window
 *
 * The same window is an anchor wherever it stands. gear is made from the key, and so that a run of one byte has no anchor.
 */
#pragma once

#define ANCHOR_WINDOW 32             /* bytes: as many as the hash has bits */
#define ANCHOR_DISTANCE_DEFAULT 1024 /* bytes, the mean; threshold is 2^32 / distance */
