/* SPDX-License-Identifier: GPL-2.0 */
/* Attaches what was seen of the bytes that an event moved. The code is in content.bpf.c. */
#pragma once

#include "kernel/memory/scratch.h"

struct content { /* the attachment */
	__u64 fingerprint; /* nothing where bytes are unread */
	__u64 unread_bytes;
	__u32 anchors_dropped; /* behind the last that was listed */
	__u32 distinct_bytes; /* spread.bpf.c; with anchors */
	__u64 sum; /* with anchors and without a key; nothing where bytes are unread */
};

static __always_inline bool looks_at_content(void)
{
	return content_level || look_for_dyes;
}

/*
 * Of the call in scratch; it moved bytes, or tried to. 0: nothing is attached, because some of it is not in memory, and the caller, who
 * may wait, can put it off.
 */
int look_at_content(struct scratch *scratch, bool may_wait);

/* The same of a call that moves its bytes in parts: whether all of them are in memory. */
static bool parts_are_resident(struct scratch *scratch);

/* Of the part that is being built: so many iovecs at an address or, if there are none, one buffer there; `bytes` of it were moved. */
int look_at_part(struct scratch *scratch, __u64 address, __u64 count, __u64 bytes, bool compat);
