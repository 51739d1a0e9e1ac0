/* SPDX-License-Identifier: GPL-2.0 */
/* What calls on processes need at their entry. */
#include "kernel/helpers/object.h"
#include "kernel/helpers/process.h"

/* kill, tkill, tgkill, pidfd_open: at exit the process may be gone. */
static __always_inline void prepare_kill(struct scratch *scratch, struct task_state *state)
{

	find_target(scratch, state, state->arguments[0]);
}

/* The process that a pidfd stands for. */
static __always_inline void prepare_pidfd(struct scratch *scratch, struct task_state *state)
{
	struct hlist_node *first;
	struct inode *inode;
	struct file *file;
	struct pid *pid;
	__u64 magic;

	if (!state->entry_file)
		return;
	file = (void *)state->entry_file;
	inode = BPF_CORE_READ(file, f_inode);
	magic = BPF_CORE_READ(inode, i_sb, s_magic);
	if (magic == PIDFS_MAGIC)
		pid = BPF_CORE_READ(inode, i_private);
	else if (magic == ANON_INODE_FS_MAGIC)
		pid = BPF_CORE_READ(file, private_data);
	else
		return;
	first = BPF_CORE_READ(pid, tasks[PIDTYPE_TGID].first);
	if (first)
		set_target(state, (void *)first - bpf_core_field_offset(struct task_struct, pid_links[PIDTYPE_TGID]));
}

/* execveat: the directory that it starts from is closed by then, where it is close-on-exec. */
static __always_inline void prepare_exec(struct scratch *scratch, struct task_state *state)
{
	struct task_struct *task = current_task();
	const volatile struct syscall_shape *shape;

	shape = shape_of(state->syscall >> ABI_SHIFT, state->syscall & NUMBER_MAX);
	if (!shape->dirfd || (__s32)state->arguments[0] == AT_FDCWD)
		return;
	see_file(scratch, file_of(task, state->arguments[0]), 0);
	state->handle_id = scratch->seen.handle_id;
}
