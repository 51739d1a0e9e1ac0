/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The first and last bytes of a call, from which src/capture finds what crosses the border of two calls: dyes and anchors. They go
 * to the recorder as the attachment `dye_edges`, and never further.
 *
 * A sendfile or its kin has those of both objects. Limits: what could not be read as a whole has none.
 */
#pragma once

#include "kernel/memory/scratch.h"

/* To the event in scratch. */
int attach_edges(scratch_ref ref);

/* To the part that is being built. */
int attach_part_edges(scratch_ref ref);
