/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of a thread, in the kernel's own storage for tasks: it ends with the thread.
 *
 *   task ──► tasks ──► context_id         announced in the facts ring
 */
#pragma once

#include "kernel/kernel_types.h"
#include "kernel/abi.h"
#include "kernel/memory/identity.h"
#include "schema/shared/filter_input.h"

#define PID_NAMESPACES_MAX 32 /* one in another: MAX_PID_NS_LEVEL */

/* Memory of a thread. Written by its own CPU only, but for flags set when it is marked. */
struct task_state {
	__u64 entry_ns;
	__u64 switched_out_ns; /* 0 while it runs */
	__u64 off_cpu_ns; /* of the present call */
	__u64 entry_file; /* struct file acted on, as the entry saw it */
	__s64 entry_position; /* its position then; of one that is appended to, its size */
	__s64 entry_position2; /* the same of the second file: sendfile, splice, copy_file_range */
	__u64 stream_sk; /* TCP: the socket that this call acts on, 0: not seen yet; where its bytes begin (sent) or end (read) */
	__u64 stream_at;
	__u32 flags; /* enum task_flags */
	__u32 syscall; /* number and abi << 16 of the present call */
	__u32 handle_id; /* close, unlink, rmdir, rename: the object, which exit can't know */
	__u32 open_flags;
	__u32 target_tid; /* clone: the child */
	__u32 context_id; /* 0: none yet */
	__u64 target_start_ns;
	/* what context_id was announced with */
	__u64 comm[2];
	__u64 cred, nsproxy, cgroups, parent;
	__u64 arguments[6]; /* of execve and of i386, where exit may no longer find them */
	__u32 context_announced;
	__u32 entry_type; /* close: enum object_type */
	__u32 killed; /* of a process's first thread: that a signal ends it was written; any CPU may */
	__u32 address_room; /* bytes that the call may fill with an address; 0: none, or not known */
	__u32 replaced_id; /* rename: handle of what had the new name; 0: nothing */
	struct object_key removed; /* unlink, rmdir, rename: what ends if the call succeeds; ino 0: nothing */
	struct filter_object closed; /* of handle_id: what the filter is told */
	struct filter_task filter;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} tasks SEC(".maps");

#define KEEP_ATTEMPTS 8
__u64 unkept_threads; /* out: times that the kernel refused a thread its state: no memory, or a program in the middle of the same */

/*
 * A task's state, made if it has none. Of two that are the first to keep something of a task at the same time, as two
 * recorders do that begin together, bpf_local_storage_alloc() refuses one, which has to ask again.
 */
static __always_inline struct task_state *kept_state(struct task_struct *task)
{
	struct task_state *state = NULL;

	for (int i = 0; i < KEEP_ATTEMPTS && !state; i++)
		state = bpf_task_storage_get(&tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!state)
		__sync_fetch_and_add(&unkept_threads, 1);
	return state;
}
