/* SPDX-License-Identifier: GPL-2.0 */
/* What a task is: names, numbers and namespaces, its program and its command line. Rare, so it is one function for all. */
#include "kernel/helpers/task.h"

#define COMMAND_BYTES_MAX 1024 /* of a command line */
#define TASK_CONTEXT_COMMAND_CUT 2 /* bit of its flags */
#define CGROUP_BYTES_MAX 1024 /* of a cgroup's path; a longer one is left out */

/* The number of the process, whichever of its threads this is. */
static __always_inline __u32 pid_in_namespace(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, group_leader, thread_pid);
	unsigned int level = BPF_CORE_READ(pid, level);
	struct upid upid = {};

	if (level > PID_NAMESPACES_MAX)
		return 0;
	bpf_core_read(&upid, sizeof(upid), &pid->numbers[level]);
	return upid.nr;
}

static __always_inline __u32 pid_namespace_inum(struct task_struct *task)
{
	struct pid *pid = READ(task, thread_pid);
	unsigned int level = BPF_CORE_READ(pid, level);
	struct pid_namespace *ns = NULL;

	if (level > PID_NAMESPACES_MAX)
		return 0;
	bpf_core_read(&ns, sizeof(ns), &pid->numbers[level].ns);
	return BPF_CORE_READ(ns, ns.inum);
}

/* The program's path goes after the `at` bytes of a fact; returns the bytes added. */
static __always_inline __u32 attach_exe(struct scratch *scratch, __u32 at, struct task_struct *task)
{
	struct file *exe = BPF_CORE_READ(task, mm, exe_file);

	if (!exe)
		return 0;
	read_path(scratch, BPF_CORE_READ(exe, f_path.dentry), BPF_CORE_READ(exe, f_path.mnt));
	return attach_path(scratch, at, ATTACHMENT_EXE);
}

/* A container has a cgroup; on hosts of before version 2 only in the trees of the controllers. */
static __always_inline struct kernfs_node *cgroup_of(struct task_struct *task)
{
	struct kernfs_node *node = BPF_CORE_READ(task, cgroups, dfl_cgrp, kn);
	struct cgroup_subsys_state *pids;

	if (kernfs_parent(node) || !bpf_core_enum_value_exists(enum cgroup_subsys_id, pids_cgrp_id))
		return node;
	pids = BPF_CORE_READ(task, cgroups, subsys[bpf_core_enum_value(enum cgroup_subsys_id, pids_cgrp_id)]);
	return pids ? BPF_CORE_READ(pids, cgroup, kn) : node;
}

/* The cgroup's path goes after the `at` bytes of a fact; the root has none. */
static __always_inline __u32 attach_cgroup(struct scratch *scratch, __u32 at, struct task_struct *task)
{
	read_cgroup_path(ref_of(scratch), number_of(scratch, cgroup_of(task)));
	return attach_walked(scratch, at, ATTACHMENT_CGROUP, FACT_FIELDS_MAX + PATH_BYTES_MAX + COMMAND_BYTES_MAX + 64,
			     CGROUP_BYTES_MAX);
}

/*
 * The command line, arguments parted by NUL, if it is resident: it lies in the memory of the task, which is to be read only while that
 * task runs.
 */
static __always_inline __u32 attach_command(struct scratch *scratch, __u32 at, struct task_struct *task)
{
	unsigned long begin = BPF_CORE_READ(task, mm, arg_start), end = BPF_CORE_READ(task, mm, arg_end);
	struct attachment_header *header;
	__u32 length = end - begin;

	if (!keep_arguments || !begin || end <= begin || at > FACT_FIELDS_MAX + PATH_BYTES_MAX ||
	    (__u64)task != bpf_get_current_task())
		return 0;
	if (length > COMMAND_BYTES_MAX) {
		length = COMMAND_BYTES_MAX;
		scratch->fact.context.flags |= TASK_CONTEXT_COMMAND_CUT;
	}
	header = (void *)scratch->fact.bytes + at;
	if (bpf_probe_read_user(header + 1, length, (void *)begin))
		return 0;
	header->kind = ATTACHMENT_COMMAND;
	header->length = length;
	header->reserved = 0;
	return sizeof(*header) + padded(length);
}

static __always_inline void fill_context(struct task_context_fact *fact, struct task_struct *task, __u32 context_id)
{
	struct task_struct *parent = READ(task, real_parent);

	__builtin_memset(fact, 0, sizeof(*fact));
	fact->header.type = RECORD_TASK_CONTEXT;
	fact->valid_from_ns = bpf_ktime_get_boot_ns();
	fact->thread_start_ns = READ(task, start_boottime);
	fact->process_start_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	fact->parent_start_ns = BPF_CORE_READ(parent, group_leader, start_boottime);
	fact->cgroup_id = BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
	fact->context_id = context_id;
	fact->pid = READ(task, tgid);
	fact->tid = READ(task, pid);
	fact->ppid = BPF_CORE_READ(parent, tgid);
	fact->pid_in_namespace = pid_in_namespace(task);
	fact->uid = BPF_CORE_READ(task, cred, euid.val);
	fact->gid = BPF_CORE_READ(task, cred, egid.val);
	fact->network_namespace = BPF_CORE_READ(task, nsproxy, net_ns, ns.inum);
	fact->mount_namespace = BPF_CORE_READ(task, nsproxy, mnt_ns, ns.inum);
	fact->pid_namespace = pid_namespace_inum(task);
	fact->flags = READ(task, flags) & PF_KTHREAD ? 1 : 0;
	bpf_core_read(fact->comm, sizeof(fact->comm), &task->comm);
}

__noinline int announce_context_of(scratch_ref ref, state_ref of, __u64 task_address)
{
	struct scratch *scratch = scratch_of(ref);
	struct task_state *state = state_behind(of);
	struct task_struct *task = typed(task_struct, task_address);
	__u32 size = sizeof(struct task_context_fact), exe;

	if (!scratch || !state)
		return 0;
	if (state->context_announced || !state->context_id)
		state->context_id = new_id(&scratch->next_context);
	bpf_core_read(state->comm, sizeof(state->comm), &task->comm);
	state->cred = (__u64)READ(task, cred);
	state->nsproxy = (__u64)READ(task, nsproxy);
	state->cgroups = (__u64)READ(task, cgroups);
	state->parent = (__u64)READ(task, real_parent);
	state->flags &= ~(TASK_EXECED | TASK_JUDGED | TASK_DROPPED);
	fill_context(&scratch->fact.context, task, state->context_id);
	if (filter_loaded)
		tell_filter_of_task(scratch, &state->filter);
	exe = attach_exe(scratch, size, task);
	if (filter_loaded && exe)
		judge_path(scratch, &state->filter.atoms, FILTER_SUBJECT_EXE);
	size += exe;
	size += attach_command(scratch, size, task);
	size += attach_cgroup(scratch, size, task);
	scratch->fact.context.attachments = size - sizeof(struct task_context_fact);
	state->context_announced = emit(STREAM_FACTS, &scratch->fact.context.header, size);
	return 0;
}
