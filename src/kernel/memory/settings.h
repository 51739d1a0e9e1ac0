/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sizes that all programs share, and what src/capture decides: before it loads them (constants, which the verifier sees), or
 * while they run.
 */
#pragma once

#include "kernel/kernel_types.h"
#include "kernel/abi.h"
#include "kernel/loop.h"
#include "schema/generated/records.bpf.h" /* names an enum as a variable here is named */

#define PAGE_BITS 12
#define PATH_BYTES_MAX 4096 /* PATH_MAX */
#define SHORT_NAME_BYTES_MAX 256 /* XATTR_NAME_MAX and NUL; comes after two paths */
#define NAME_BYTES_MAX 256 /* NAME_MAX + 1 */
#define ADDRESS_BYTES_MAX 128 /* sizeof(struct sockaddr_storage) */

const volatile __u32 cpu_count;
const volatile __u64 event_ring_bytes; /* power of two */
const volatile __u64 fact_ring_bytes; /* power of two */
const volatile bool watch_all; /* every task, else only the marked ones and their children */
const volatile bool strong_order; /* x86: stores are seen in order */
const volatile bool filter_loaded; /* a predicate decides, see filter.h */
const volatile bool follow_children; /* and threads */
const volatile bool read_other_tasks; /* finish_calls may sleep, and so read memory of other tasks */
const volatile bool can_defer; /* the kernel has bpf_task_work_schedule_resume: programs that may wait for a fault */
const volatile __u32 preview_bytes; /* of each buffer, and structures too; 0: none */
const volatile __u32 content_level; /* enum content_level */
const volatile __u64 payload_ring_bytes; /* power of two */
const volatile __u64 payload_bytes_max; /* of a call; what comes after is not kept */
const volatile bool content_keyed;
const volatile __u64 content_key[2];
const volatile bool look_for_dyes; /* see dye.h */
const volatile bool only_dyed; /* an event that moved no bytes is filtered here, one without a dye in src/capture */
const volatile bool watch_retransmissions; /* see retransmit.bpf.c */
const volatile bool keep_arguments; /* of programs: the command line */
const volatile bool count_only; /* add up in `totals` instead of writing events */

#ifdef WITHOUT_LOOPS /* Bytes are not looked at. Each is read all the same, for variables stand in the order in which they are first used. */
#define content_level ((void)content_level, CONTENT_LEVEL_NONE)
#define look_for_dyes ((void)look_for_dyes, false)
#define only_dyed ((void)only_dyed, false)
#endif

bool ending; /* set before anything is detached: a call whose entry is not seen from now on is no part of the recording */
