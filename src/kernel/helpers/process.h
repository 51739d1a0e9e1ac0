/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The process that a call acts on. Found before the call where that may end it (kill, pidfd: process.bpf.c); a process that
 * was waited for is gone at exit, so its end is remembered in `ended`.
 */
#pragma once

#include "kernel/helpers/call.h"
#include "kernel/helpers/xarray.h"

/* Processes that ended and were not waited for yet: at wait's exit they are gone. */
struct ended_key {
	__u64 namespace; /* address of the parent's pid namespace */
	__u32 pid; /* in it */
	__u32 reserved;
};

struct ended_state {
	__u64 start_ns;
	__u32 pid; /* in the host's namespace */
	__u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct ended_key);
	__type(value, struct ended_state);
} ended SEC(".maps");

static __always_inline struct pid_namespace *namespace_of(struct task_struct *task)
{
	struct pid *pid = LOAD(task, thread_pid);
	unsigned int level = BPF_CORE_READ(pid, level);
	struct pid_namespace *ns = NULL;

	if (level <= PID_NAMESPACES_MAX)
		bpf_core_read(&ns, sizeof(ns), &pid->numbers[level].ns);
	return ns;
}

/* The process that a thread belongs to. */
static __always_inline void set_target(struct task_state *state, struct task_struct *task)
{
	state->target_tid = BPF_CORE_READ(task, tgid);
	state->target_start_ns = BPF_CORE_READ(task, group_leader, start_boottime);
}

/* The address of the thread with this struct pid; 0: none. */
static __always_inline __u64 thread_of(__u64 pid)
{
	__u64 first = pid ? number_at(pid + bpf_core_field_offset(struct pid, tasks[PIDTYPE_PID])) : 0;

	return first ? first - bpf_core_field_offset(struct task_struct, pid_links[PIDTYPE_PID]) : 0;
}

/* The thread that has this number in a pid namespace; 0: none. Verified on its own: it is found in many ways. */
__noinline __u64 find_task(__u64 namespace, __u32 number)
{
	__u32 base = READ(typed(pid_namespace, namespace), idr.idr_base);
	__u64 pid = xarray_entry(namespace + bpf_core_field_offset(struct pid_namespace, idr.idr_rt.xa_head), number - base,
				 PID_LEVELS_MAX);

	return thread_of(pid);
}

/* A process that still exists, by its number in the pid namespace of the current task. */
static __always_inline void find_target(struct scratch *scratch, struct task_state *state, __s32 pid)
{
	__u64 task = pid > 0 ? find_task(number_of(scratch, namespace_of(current_task())), pid) : 0;

	if (task)
		set_target(state, (struct task_struct *)task);
}

/* One that was waited for: it has ended, or else was only stopped or continued. */
static __always_inline void find_waited(struct scratch *scratch, struct task_state *state, __u32 pid)
{
	struct ended_key key = { .pid = pid };
	struct ended_state *known;

	key.namespace = number_of(scratch, namespace_of(current_task()));
	known = bpf_map_lookup_elem(&ended, &key);
	if (!known) {
		find_target(scratch, state, pid);
		return;
	}
	state->target_tid = known->pid;
	state->target_start_ns = known->start_ns;
}

static __always_inline void fill_waited(struct scratch *scratch, struct task_state *state,
					const volatile struct syscall_shape *shape)
{
	struct syscall_event *event = &scratch->event;
	__u32 pid = event->result;

	if (shape->returns != RETURNS_PID) { /* waitid: siginfo_t tells */
		__u64 info = event->arguments[2];

		if (!info || bpf_probe_read_user(&pid, sizeof(pid), (void *)(info + (event->abi == ABI_COMPAT ? 12 : 16))))
			return;
	}
	if (pid)
		find_waited(scratch, state, pid);
}
