/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bytes that a call moved and that are not in memory when it ends (a page of a file that it wrote to /dev/null, one that was evicted
 * meanwhile) cannot be read from sys_exit, which must not fault. Such a call's event is put aside, and the task looks at its bytes
 * itself, on its way back to its program, where faults are allowed:
 *
 *   sys_exit ──defer()──► deferred_calls[i] ──task work──► touch each page ──► look_at_content() again ──► the event
 *                                             may sleep     preemption off
 *
 * The program runs on when the event is written, so that a task's events keep their order and its bytes are those that it had moved.
 * Memory that another program fills on demand (userfaultfd) is not touched: that one may be waiting for this task; nor is that of devices.
 *
 * A call that moves its bytes in parts (parts.h) is deferred with all of them.
 *
 * Limits: 64 calls at once; those beyond are written at once, and what of them is not in memory is unread. Pages of files that sendfile and
 * its kin copied and that were evicted meanwhile stay unread: no program can ask the kernel to read a file (pages.h).
 */
#pragma once

#include "kernel/memory/scratch.h"

/*
 * The event in scratch is complete but for its content. False: it has to be written now. In deferred.bpf.c, and static: a global function
 * that refers to one that may sleep is taken for such a one itself.
 */
static bool defer(struct scratch *scratch);
