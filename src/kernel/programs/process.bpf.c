/* SPDX-License-Identifier: GPL-2.0 */
/* What calls on processes need at their entry. */
#include "kernel/helpers/object.h"
#include "kernel/helpers/process.h"

/* kill, tkill, tgkill, pidfd_open: at exit the process may be gone. */
SEC("tp_btf/sys_enter")
int BPF_PROG(prepare_kill, struct pt_regs *regs, long id)
{
	struct task_state *state = bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), NULL, 0);
	struct scratch *scratch = cpu_scratch();

	if (state && scratch)
		find_target(scratch, state, state->arguments[0]);
	return 0;
}

/* The process that a pidfd stands for. */
SEC("tp_btf/sys_enter")
int BPF_PROG(prepare_pidfd, struct pt_regs *regs, long id)
{
	struct task_state *state = bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), NULL, 0);
	struct hlist_node *first;
	struct inode *inode;
	struct file *file;
	struct pid *pid;
	__u64 magic;

	if (!state || !state->entry_file)
		return 0;
	file = (void *)state->entry_file;
	inode = BPF_CORE_READ(file, f_inode);
	magic = BPF_CORE_READ(inode, i_sb, s_magic);
	if (magic == PIDFS_MAGIC)
		pid = BPF_CORE_READ(inode, i_private);
	else if (magic == ANON_INODE_FS_MAGIC)
		pid = BPF_CORE_READ(file, private_data);
	else
		return 0;
	first = BPF_CORE_READ(pid, tasks[PIDTYPE_TGID].first);
	if (first)
		set_target(state, (void *)first - bpf_core_field_offset(struct task_struct, pid_links[PIDTYPE_TGID]));
	return 0;
}

/* execveat: the directory that it starts from is closed by then, where it is close-on-exec. */
SEC("tp_btf/sys_enter")
int BPF_PROG(prepare_exec, struct pt_regs *regs, long id)
{
	struct task_struct *task = current_task();
	struct task_state *state = bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), NULL, 0);
	struct scratch *scratch = cpu_scratch();
	const volatile struct syscall_shape *shape;

	if (!state || !scratch)
		return 0;
	shape = shape_of(state->syscall >> ABI_SHIFT, state->syscall & NUMBER_MAX);
	if (!shape->dirfd || (__s32)state->arguments[0] == AT_FDCWD)
		return 0;
	see_file(scratch, file_of(task, state->arguments[0]), 0);
	state->handle_id = scratch->seen.handle_id;
	return 0;
}
