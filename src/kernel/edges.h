/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The first and last bytes of a call, from which src/capture finds what crosses the border of two calls: dyes and anchors. They go
 * to the recorder as the attachment `dye_edges`, and never further.
 *
 * Limits: parts (of sendmmsg, AIO) and what moves without a buffer (sendfile) have none, nor has what could not be read as a whole.
 */
#pragma once

#include "kernel/scratch.h"

/* To the event in scratch. */
int attach_edges(struct scratch *scratch);
