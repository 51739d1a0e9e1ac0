/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which memory processes share when a recording begins, for src/capture: a shared_mapping fact, but for its time, into the iterator's file.
 * And the file that is mapped where msync, mprotect and munmap act.
 */
#include "kernel/helpers/object.h"
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
	mapping.device = device_of(inode_of((__u64)area->vm_file));
	mapping.is_writable = (area->vm_flags & VM_WRITE) != 0;
	bpf_seq_write(context->meta->seq, &mapping, sizeof(mapping));
	return 0;
}

struct mapped_file {
	struct file *file; /* NULL: none */
	__s64 offset; /* of the file's byte at `address` */
	__u64 address;
};

static __attribute__((unused)) long keep_mapping(struct task_struct *task, struct vm_area_struct *area,
						 struct mapped_file *mapped)
{
	mapped->file = area->vm_file;
	mapped->offset = (area->vm_pgoff << PAGE_BITS) + (mapped->address - area->vm_start);
	return 0;
}

/* msync, mprotect, munmap: what is mapped at their address; of several mappings the first. Nothing while another thread changes the mappings. */
static __always_inline void prepare_mapping(struct scratch *scratch, struct task_state *state)
{
	struct mapped_file mapped = {};

	if (preview_bytes) /* strace knows a mapping by its address */
		return;
	mapped.address = state->arguments[0];
#ifndef WITHOUT_LOOPS /* a helper of the same kernel */
	bpf_find_vma(this_task(), mapped.address, keep_mapping, &mapped, 0);
#endif
	state->entry_file = number_of(scratch, mapped.file);
	if (!state->entry_file)
		return;
	see_file(scratch, state->entry_file, 0);
	keep_seen(scratch, state);
	state->entry_position = mapped.offset;
}
