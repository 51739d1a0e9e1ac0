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
	__u64 task; /* address, where there is no storage for tasks */
};

_Static_assert(__builtin_offsetof(struct task_state, flags) == TASK_FLAGS_AT, "user space knows it");
_Static_assert(__builtin_offsetof(struct task_state, context_id) == TASK_CONTEXT_AT, "user space knows it");

#ifdef WITHOUT_LOOPS /* before 5.11 there is no storage for tasks: by the address of one, and a program takes out what has ended */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct task_state);
} tasks SEC(".maps");

static __always_inline struct task_state *state_of(const struct task_struct *task)
{
	__u64 key = (__u64)task;

	return bpf_map_lookup_elem(&tasks, &key);
}

/* A new state begins with zeros, which are too many for the stack; never written. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct task_state);
} blank_states SEC(".maps");

/* A task's state, or a new one that begins as `first` (NULL: with zeros). */
static __always_inline struct task_state *state_from(const struct task_struct *task, const struct task_state *first)
{
	struct task_state *state = state_of(task);
	__u64 key = (__u64)task;
	__u32 zero = 0;

	if (state)
		return state;
	if (!first)
		first = bpf_map_lookup_elem(&blank_states, &zero);
	if (!first)
		return NULL;
	bpf_map_update_elem(&tasks, &key, first, BPF_NOEXIST);
	state = state_of(task);
	if (state)
		state->task = (__u64)task;
	return state;
}

/* The thread has ended. */
static __always_inline void forget_state(const struct task_struct *task)
{
	__u64 key = (__u64)task;

	bpf_map_delete_elem(&tasks, &key);
}

/* What a function that is verified on its own is handed of a state, see scratch.h. */
typedef __u64 state_ref;
#define state_ref_of(state) ((state)->task)

static __always_inline struct task_state *state_behind(state_ref task)
{
	return bpf_map_lookup_elem(&tasks, &task);
}
#else
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} tasks SEC(".maps");

#define state_from(task, first) ((struct task_state *)bpf_task_storage_get(&tasks, task, first, BPF_LOCAL_STORAGE_GET_F_CREATE))
#define forget_state(task) ((void)0) /* it ends with the thread */

typedef struct task_state *state_ref;
#define state_ref_of(state) (state)
#define state_behind(ref) (ref)
#define state_of(task) ((struct task_state *)bpf_task_storage_get(&tasks, task, NULL, 0))
#endif

/* Whichever flag another CPU sets meanwhile stays. */
static __always_inline void set_flags(struct task_state *state, __u32 flags)
{
#ifdef WITHOUT_LOOPS /* before 5.12 there is no such instruction */
	*(volatile __u32 *)&state->flags |= flags;
#else
	__sync_fetch_and_or(&state->flags, flags);
#endif
}

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
		state = state_from(task, NULL);
	if (!state)
		__sync_fetch_and_add(&unkept_threads, 1);
	return state;
}
