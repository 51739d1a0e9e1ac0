/* SPDX-License-Identifier: GPL-2.0 */
/* Attaches what was seen of the bytes that an event moved. The code is in content.bpf.c. */
#pragma once

#include "kernel/memory/scratch.h"

static __always_inline bool looks_at_content(void)
{
	return content_level || look_for_dyes;
}

/*
 * Looks at the call in scratch, which moved bytes or tried to. 0: nothing is attached, because some of it is not in memory, and the caller, who
 * may wait, can put it off.
 */
int look_at_content(scratch_ref ref, bool may_wait);

/* Whether all bytes of a call that moves them in parts are in memory. */
static bool parts_are_resident(struct scratch *scratch);

/* Looks at the part that is being built: so many iovecs at an address or, if there are none, one buffer there; `bytes` of it were moved. */
int look_at_part(scratch_ref ref, __u64 address, __u64 count, __u64 bytes, bool compat);
