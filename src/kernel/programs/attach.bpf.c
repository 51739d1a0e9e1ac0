/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Marks the tasks that exist when a recording begins: those to watch, and the recorder's own. Run through an iterator over
 * all tasks, which sees every thread; a pidfd would reach thread group leaders only.
 */
#include "kernel/iterators.h"
#include "kernel/memory/task_state.h"

/* What the next run of the iterator does; written by src/capture. */
__u32 mark_number; /* this process, or thread, by its number in the pid namespace of who runs the iterator */
bool mark_one_thread; /* not the whole process */
__u32 mark_flags; /* enum task_flags */
__u32 marked; /* out: threads */
__u32 refused; /* out: threads that the kernel gave no state now */
static struct task_state first_state; /* of a thread that has none: it is marked from the moment that other programs see one */

/* 0: it has none there. */
static __always_inline __u32 number_for_reader(struct task_struct *task)
{
	unsigned int level = BPF_CORE_READ(this_task(), thread_pid, level);
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	struct upid upid = {};

	if (level > PID_NAMESPACES_MAX || level > BPF_CORE_READ(pid, level))
		return 0;
	bpf_core_read(&upid, sizeof(upid), &pid->numbers[level]);
	return upid.nr;
}

SEC("iter/task")
int mark_tasks(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct task_state *state;

	if (!task || number_for_reader(mark_one_thread ? task : task->group_leader) != mark_number)
		return 0;
	first_state.flags = mark_flags;
	state = state_from(task, &first_state);
	if (!state) {
		refused++;
		return 0;
	}
	set_flags(state, mark_flags);
	marked++;
	return 0;
}

/* Watched threads that are not on their way out: `marked`. */
SEC("iter/task")
int count_watched(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct task_state *state;

	if (!task || task->flags & PF_EXITING)
		return 0;
	state = state_of(task);
	if (state && state->flags & TASK_WATCHED && !(state->flags & TASK_EXCLUDED))
		marked++;
	return 0;
}
