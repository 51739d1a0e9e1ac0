/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Life of tasks: children inherit being watched, exec changes the program, an exit ends a thread and the call it was in,
 * and a context switch divides a call's time into running and waiting.
 */
#include "kernel/iterators.h"
#include "kernel/helpers/process.h"
#include "kernel/helpers/unfinished.h"
#include "kernel/programs/begin_and_end.h"

SEC("tp_btf/sched_process_fork")
int BPF_PROG(task_fork, struct task_struct *parent, struct task_struct *child)
{
	struct task_state *of_parent = state_of(parent);
	struct task_state *state;

	if (!of_parent)
		return 0;
	of_parent->target_tid = child->pid;
	of_parent->target_start_ns = child->start_boottime;
	if (!(of_parent->flags & (TASK_WATCHED | TASK_EXCLUDED)) && !watch_all)
		return 0;
	if (!follow_children && !(of_parent->flags & TASK_EXCLUDED))
		return 0;
	state = kept_state(child);
	/* mark_tasks may come to both meanwhile, to the parent first: whichever flag is set now stays, and what the parent has by now is inherited */
	if (state)
		set_flags(state, (of_parent->flags & (TASK_WATCHED | TASK_EXCLUDED)) | TASK_CHILD_RETURN);
	return 0;
}

#define FD_PATH_BYTES 8 /* "/dev/fd/" */
#define FD_DIGITS_MAX 10

/* Bytes that the kernel put before the path which execveat was given: /dev/fd/7 or /dev/fd/7/ */
static __always_inline __u32 fd_path_bytes(const char *text)
{
	__u32 length = FD_PATH_BYTES;

	for (int i = 0; i < FD_DIGITS_MAX && text[length] >= '0' && text[length] <= '9'; i++)
		length++;
	return text[length] == '/' ? length + 1 : length;
}

/* Keeps the path for the call's exit, when the memory that it was in is gone. */
static __always_inline void keep_exec_path(struct scratch *scratch, struct task_struct *task, struct linux_binprm *program)
{
	struct exec_path *path = &scratch->exec_path;
	const char *text = BPF_CORE_READ(program, filename);
	__u64 key = number_of(scratch, task);
	char begin[FD_PATH_BYTES + FD_DIGITS_MAX + 2] = {};
	long length;

	if (BPF_CORE_READ(program, fdpath)) {
		bpf_probe_read_kernel_str(begin, sizeof(begin), text);
		text += fd_path_bytes(begin);
	}
	length = bpf_probe_read_kernel_str(path->text, sizeof(path->text), text);
	if (length < 1)
		return;
	path->length = length - 1;
	bpf_map_update_elem(&exec_paths, &key, path, BPF_ANY);
}

SEC("tp_btf/sched_process_exec")
int HOLDING_PROGRAM(task_exec, struct task_struct *task, int old_pid, struct linux_binprm *program)
{
	struct task_state *state = state_of(task);
	struct scratch *scratch = cpu_scratch();

	if (!state || !scratch)
		return 0;
	state->flags |= TASK_EXECED;
	if (watch_all || state->flags & TASK_WATCHED)
		keep_exec_path(scratch, task, program);
	return 0;
}

/* For the wait of its parent, which has another number for it where pid namespaces are in use. */
static __always_inline void remember_end(struct scratch *scratch, struct task_struct *task)
{
	struct task_struct *parent = task->real_parent;
	struct pid *pid = task->thread_pid;
	unsigned int level = BPF_CORE_READ(parent, thread_pid, level);
	struct ended_state end = {};
	struct ended_key key = {};
	struct upid upid = {};

	if (task->pid != task->tgid || level > PID_NAMESPACES_MAX)
		return;
	bpf_core_read(&upid, sizeof(upid), &pid->numbers[level]);
	key.namespace = number_of(scratch, upid.ns);
	key.pid = upid.nr;
	end.pid = task->tgid;
	end.start_ns = task->start_boottime;
	bpf_map_update_elem(&ended, &key, &end, BPF_ANY);
}

/* The call that it was in, and that it is over. */
static __always_inline void tell_end(struct scratch *scratch, struct task_struct *task, struct task_state *state)
{
	struct thread_end_fact *fact = &scratch->fact.thread_end;

	if (!context_is_current(state, typed(task_struct, task)))
		announce_context(state, task, scratch);
	end_call(scratch, task, state, false);
	__builtin_memset(fact, 0, sizeof(*fact));
	fact->header.type = RECORD_THREAD_END;
	fact->header.flags = RECORD_MAY_BE_SKIPPED;
	fact->end_ns = bpf_ktime_get_boot_ns();
	fact->thread_start_ns = task->start_boottime;
	fact->process_start_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	fact->pid = task->tgid;
	fact->tid = task->pid;
	fact->exit_code = task->exit_code;
	emit(STREAM_FACTS, &fact->header, sizeof(*fact));
}

SEC("tp_btf/sched_process_exit")
int HOLDING_PROGRAM(task_exit, struct task_struct *task)
{
	struct task_state *state = state_of(task);
	struct scratch *scratch = cpu_scratch();

	if (!scratch)
		return 0;
	remember_end(scratch, typed(task_struct, task));
	if (!state)
		return 0;
	if (!(state->flags & TASK_EXCLUDED) && (watch_all || state->flags & TASK_WATCHED))
		tell_end(scratch, task, state);
	forget_state(task);
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(task_switch, bool preempt, struct task_struct *from, struct task_struct *to)
{
	struct task_state *state = state_of(from);
	__u64 now = 0;

	if (state && state->flags & TASK_IN_CALL) {
		now = bpf_ktime_get_boot_ns();
		state->switched_out_ns = now;
	}
	state = state_of(to);
	if (state && state->switched_out_ns)
		end_wait(state, now ?: bpf_ktime_get_boot_ns());
	return 0;
}

/*
 * A call that began before the recording did. A thread that sleeps does so in the kernel, and there the registers that it
 * came with name its call, or none where it came by a fault.
 */
static __always_inline void adopt_call(struct task_struct *task, struct task_state *state)
{
	struct pt_regs *regs = registers_of(task);
	__u64 number = number_in(regs);
	__u32 abi;

	if (!is_asleep(task) || task->flags & (PF_KTHREAD | PF_EXITING) || (__s64)number < 0)
		return;
	abi = abi_of(task, &number);
	state->syscall = number | abi << ABI_SHIFT;
	read_arguments(state->arguments, regs, abi);
	state->entry_ns = bpf_ktime_get_boot_ns();
	state->entry_position = -1;
	state->handle_id = 0;
	state->target_tid = 0;
	state->off_cpu_ns = 0;
	state->flags |= TASK_IN_CALL | TASK_CALL_ADOPTED;
}

/*
 * At the end of a recording, when nothing else here is attached: the calls that are still under way. May sleep, where
 * read_other_tasks says so: then nobody else uses the CPU's scratch meanwhile, because there is nobody else.
 */
SEC("iter/task")
int finish_calls(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct scratch *scratch = cpu_scratch();
	struct task_state *state;

	if (!task || !scratch)
		return 0;
	state = watched_state(task);
	if (!state)
		return 0;
	if (!(state->flags & (TASK_IN_CALL | TASK_DROPPED)))
		adopt_call(task, state);
	if (!(state->flags & TASK_IN_CALL))
		return 0;
	if (!context_is_current(state, typed(task_struct, task)))
		announce_context(state, task, scratch);
	end_call(scratch, task, state, true);
	return 0;
}
