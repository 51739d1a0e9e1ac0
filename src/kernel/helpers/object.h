/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What: the object behind an open file and the name that it was reached by, found in the file itself and not in a table
 * by descriptor, so that passed, inherited and duplicated descriptors are right without following them.
 *
 *   (dentry, mount) ──► handles ──► handle_id          valid while inode, name, parent and name_epoch are unchanged
 *   (device, inode, generation) ──► objects ──► object_id
 *
 * What is found is in scratch->seen, because it crosses calls. The code is in object.bpf.c.
 */
#pragma once

#include "kernel/memory/scratch.h"

enum see_flags {
	SEE_FRESH = 1, /* the call made this open file: an anonymous one is a new object */
};

/* One look, which is enough for what was seen before; else true, and the three after it do the rest. Not in each other: stacks are short. */
int find_file(scratch_ref ref, __u64 address, __u32 flags);
int find_directory(scratch_ref ref, __u64 dentry_address, __u64 mnt_address);
int describe_seen(scratch_ref ref);
int number_seen(scratch_ref ref);
int announce_seen(scratch_ref ref);

/* On which device an inode is, as stat(2) says it: see device.bpf.c. */
__u32 device_of(__u64 inode);

static __always_inline void see_news(struct scratch *scratch)
{
	describe_seen(ref_of(scratch));
	number_seen(ref_of(scratch));
	announce_seen(ref_of(scratch));
}

/* Fills scratch->seen from an open file; handle_id is 0 if there is nothing to see. */
static __always_inline void see_file(struct scratch *scratch, __u64 address, __u32 flags)
{
	if (find_file(ref_of(scratch), address, flags))
		see_news(scratch);
}

/* Fills it from a directory that is not open: cwd, root. */
static __always_inline void see_directory(struct scratch *scratch, __u64 dentry_address, __u64 mnt_address)
{
	if (find_directory(ref_of(scratch), dentry_address, mnt_address))
		see_news(scratch);
}

/* What scratch->seen has, for the exit, when it can no longer be seen. */
static __always_inline void keep_seen(const struct scratch *scratch, struct task_state *state)
{
	state->handle_id = scratch->seen.handle_id;
	state->open_flags = scratch->seen.open_flags;
	state->entry_type = scratch->seen.object_type;
	if (filter_loaded) {
		state->closed = scratch->seen.filter;
		if (!scratch->seen.announced)
			state->closed.object_id = 0;
	}
}

static __always_inline void see_root_directory(struct scratch *scratch, struct fs_struct *fs)
{
	__u64 dentry = number_of(scratch, LOAD(fs, root.dentry));

	see_directory(scratch, dentry, number_of(scratch, LOAD(fs, root.mnt)));
}

static __always_inline void see_working_directory(struct scratch *scratch, struct fs_struct *fs)
{
	__u64 dentry = number_of(scratch, LOAD(fs, pwd.dentry));

	see_directory(scratch, dentry, number_of(scratch, LOAD(fs, pwd.mnt)));
}

static __always_inline __u64 inode_of(__u64 file)
{
	__u64 inode = 0;

	if (file)
		bpf_core_read(&inode, sizeof(inode), &((struct file *)file)->f_inode);
	return inode;
}

/* How often an open file is referred to: by descriptors, mappings, calls under way. */
static __always_inline __s64 references_of(struct file *file)
{
	if (bpf_core_field_exists(file->f_ref))
		return BPF_CORE_READ(file, f_ref.refcnt.counter) + 1;
	return BPF_CORE_READ((struct file___counted *)(void *)file, f_count.counter);
}

/* Where the current task's table of descriptors keeps this one's open file; NULL if it has no such place. */
static __always_inline struct file **slot_of(struct task_struct *task, __s32 fd)
{
	struct files_struct *files = LOAD(task, files);
	struct fdtable *table;

	if (fd < 0 || !files)
		return NULL;
	table = LOAD(files, fdt);
	return (__u32)fd < LOAD(table, max_fds) ? LOAD(table, fd) + fd : NULL;
}

/* The open file behind a descriptor of the current task; 0 if there is none. */
static __always_inline __u64 file_of(struct task_struct *task, __s32 fd)
{
	struct file **slot = slot_of(task, fd);

	return slot ? number_at(slot) : 0;
}
