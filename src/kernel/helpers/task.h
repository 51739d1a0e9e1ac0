/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who: the context of a task, announced again whenever its name, user, program, parent, cgroup or namespaces change.
 * The check is a few loads per event; the announcement is rare.
 */
#pragma once

#include "kernel/helpers/filter.h"
#include "kernel/helpers/name.h"

/* NULL unless the task is recorded. */
static __always_inline struct task_state *watched_state(struct task_struct *task)
{
	struct task_state *state = watch_all ? kept_state(task) : state_of(task);

	if (!state || state->flags & TASK_EXCLUDED || !(watch_all || state->flags & TASK_WATCHED))
		return NULL;
	return state;
}

/* In the kernel until something happens; neither stopped nor dead. */
static __always_inline bool is_asleep(struct task_struct *task)
{
	__u64 state = bpf_core_field_exists(task->__state)
			      ? LOAD(task, __state)
			      : BPF_CORE_READ((struct task_struct___before_5_14 *)(void *)task, state);

	return state & (TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE);
}

/* When it runs again; and when a call returns, for a kernel that hides its first process tells nobody who follows that on a CPU. */
static __always_inline void end_wait(struct task_state *state, __u64 now)
{
	if (!state->switched_out_ns)
		return;
	state->off_cpu_ns += now - state->switched_out_ns;
	state->switched_out_ns = 0;
}

static __always_inline bool context_is_current(struct task_state *state, struct task_struct *task)
{
	return state->context_announced && !(state->flags & TASK_EXECED) && state->comm[0] == word_of(task->comm) &&
	       state->comm[1] == word_of(task->comm + 8) && state->cred == (__u64)LOAD(task, cred) &&
	       state->nsproxy == (__u64)LOAD(task, nsproxy) && state->cgroups == (__u64)LOAD(task, cgroups) &&
	       state->parent == (__u64)LOAD(task, real_parent);
}

/* Announces what a task is now; kept in its state. See context.bpf.c. */
int announce_context_of(scratch_ref ref, state_ref of, __u64 task_address);

static __always_inline void announce_context(struct task_state *state, struct task_struct *task, struct scratch *scratch)
{
	announce_context_of(ref_of(scratch), state_ref_of(state), number_of(scratch, task));
}
