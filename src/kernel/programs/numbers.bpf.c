/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What threads are called, and their numbers in the pid namespaces that see them: of all threads, recorded or not, since a call may
 * name any. For `dyetrace trace --decode-pids` only; else none of this is loaded.
 *
 *   task ──► thread_pid ──► numbers[0 … level]     a record for each: (namespace, number)
 */
#include "kernel/iterators.h"
#include "kernel/helpers/emit.h"
#include "kernel/memory/task_state.h"

/* False: it has no more of them. */
static __always_inline bool fill_number(struct thread_number_fact *fact, struct task_struct *task, unsigned int level)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	struct upid upid = {};

	if (!pid || level > BPF_CORE_READ(pid, level))
		return false;
	bpf_core_read(&upid, sizeof(upid), &pid->numbers[level]);
	__builtin_memset(fact, 0, sizeof(*fact));
	fact->header.type = RECORD_THREAD_NUMBER;
	fact->header.size = sizeof(*fact);
	fact->header.flags = RECORD_MAY_BE_SKIPPED;
	fact->time_ns = bpf_ktime_get_boot_ns();
	fact->thread_start_ns = BPF_CORE_READ(task, start_boottime);
	fact->tid = BPF_CORE_READ(task, pid);
	fact->pid_namespace = BPF_CORE_READ(upid.ns, ns.inum);
	fact->number = upid.nr;
	bpf_core_read(fact->comm, sizeof(fact->comm), &task->comm);
	return true;
}

/* `comm`: a name that it does not have yet; NULL: the one that it has. */
static __always_inline void tell_numbers(struct task_struct *task, const char *comm)
{
	struct thread_number_fact fact;

	for (unsigned int level = 0; level <= PID_NAMESPACES_MAX && fill_number(&fact, task, level); level++) {
		if (comm)
			bpf_probe_read_kernel_str(fact.comm, sizeof(fact.comm), comm);
		emit(STREAM_FACTS, &fact.header, sizeof(fact));
	}
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(number_forked, struct task_struct *parent, struct task_struct *child)
{
	tell_numbers(child, NULL);
	return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(number_renamed, struct task_struct *task, const char *comm)
{
	tell_numbers(task, comm);
	return 0;
}

/* Those that are there already. Into the iterator's file: a program that an interrupt may push aside must not write to a ring. */
SEC("iter/task")
int number_tasks(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct thread_number_fact fact;

	if (!task)
		return 0;
	for (unsigned int level = 0; level <= PID_NAMESPACES_MAX && fill_number(&fact, task, level); level++)
		bpf_seq_write(context->meta->seq, &fact, sizeof(fact));
	return 0;
}
