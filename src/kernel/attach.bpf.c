/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Marks the tasks that exist when a recording begins: those to watch, and the recorder's own. Run through an iterator over
 * all tasks, which sees every thread; a pidfd would reach thread group leaders only.
 */
#include "kernel/maps.h"

/* What the next run of the iterator does; written by src/capture. */
__u32 mark_tgid; /* this process; 0: every one */
__u32 mark_tid; /* this thread; 0: all of the process */
__u32 mark_flags; /* enum task_flags */
__u32 marked; /* out: threads */

SEC("iter/task")
int mark_tasks(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct task_state *state;

	if (!task || (mark_tgid && (__u32)task->tgid != mark_tgid) || (mark_tid && (__u32)task->pid != mark_tid))
		return 0;
	state = bpf_task_storage_get(&tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!state)
		return 0;
	state->flags |= mark_flags;
	marked++;
	return 0;
}
