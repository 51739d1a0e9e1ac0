/* SPDX-License-Identifier: GPL-2.0 */
/* Which memory processes share when a recording begins, for src/capture: a shared_mapping fact, but for its time, into the iterator's file. */
#include "kernel/iterators.h"
#include "kernel/memory/task_state.h"

#define VM_SHARED 8
#define VM_WRITE 2
#define MODE_TYPE 0170000
#define MODE_REGULAR 0100000 /* mapped devices are nobody's memory */

SEC("iter/task_vma")
int find_shared_memory(struct bpf_iter__task_vma *context)
{
	struct task_struct *task = context->task;
	struct vm_area_struct *area = context->vma;
	struct shared_mapping_fact mapping = {};
	struct inode *inode;

	if (!task || !area || !(area->vm_flags & VM_SHARED) || !area->vm_file)
		return 0;
	inode = area->vm_file->f_inode;
	if ((inode->i_mode & MODE_TYPE) != MODE_REGULAR)
		return 0;
	mapping.header.type = RECORD_SHARED_MAPPING;
	mapping.header.flags = RECORD_MAY_BE_SKIPPED;
	mapping.process_start_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	mapping.inode = inode->i_ino;
	mapping.pid = task->tgid;
	mapping.device = inode->i_sb->s_dev;
	mapping.is_writable = (area->vm_flags & VM_WRITE) != 0;
	bpf_seq_write(context->meta->seq, &mapping, sizeof(mapping));
	return 0;
}
