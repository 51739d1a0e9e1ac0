/* SPDX-License-Identifier: GPL-2.0 */
/* Where the buckets of the kernel's cache of names are, and what a name stood for before a call takes it away. */
#include "kernel/helpers/children.h"
#include "kernel/helpers/lookup.h"
#include "kernel/helpers/paths.h"
#include "kernel/iterators.h"

/* Tells src/capture of an entry of the cache: its hash, and the address of what points to it, which of the first in a bucket is the bucket. */
SEC("iter/task_file")
int show_directory_entry(struct bpf_iter__task_file *context)
{
	struct file *file = context->file;
	struct directory_entry entry = {};
	struct dentry *dentry;

	if (!file)
		return 0;
	dentry = file->f_path.dentry;
	entry.hash = (__u32)BPF_CORE_READ(dentry, d_name.hash_len); /* a union, of which the verifier may know another member */
	entry.pointed_to_at = (__u64)dentry->d_hash.pprev;
	if (entry.pointed_to_at)
		bpf_seq_write(context->meta->seq, &entry, sizeof(entry));
	return 0;
}

/* What a path argument leads to now, or would if it was a link, is in scratch->seen. */
static __always_inline bool see_argument(struct scratch *scratch, const struct task_state *state, __u8 path, __u8 dirfd,
					 bool follow)
{
	__u32 at = (path - 1) & 7, from = (dirfd - 1) & 7;
	__u64 text = number_of(scratch, scratch->path);

	if (at >= 6 || bpf_probe_read_user_str(scratch->path, PATH_BYTES_MAX, (void *)state->arguments[at]) <= 1 ||
	    !look_up(ref_of(scratch), text, from < 6 ? state->arguments[from] : AT_FDCWD, follow))
		return false;
	see_looked_up(scratch);
	return true;
}

static __always_inline bool exchanges(const struct task_state *state, const volatile struct syscall_shape *shape)
{
	__u32 at = (shape->at_flags - 1) & 7;

	return at < 6 && state->arguments[at] & RENAME_EXCHANGE;
}

/* A number that the file system gives no generation may come again: what has one name only is dead without it. */
static __always_inline void keep_removed(struct scratch *scratch, struct task_state *state)
{
	struct inode *inode = typed(inode, scratch->seen.inode);

	if (READ(inode, i_generation) || (READ(inode, i_nlink) > 1 && (READ(inode, i_mode) & S_IFMT) != S_IFDIR))
		return;
	state->removed.ino = READ(inode, i_ino);
	state->removed.device = device_of(scratch->seen.inode);
}

/* unlink, rmdir, rename: at exit the name is gone, and so is what another one took the place of. */
static __always_inline void prepare_names(struct scratch *scratch, struct task_state *state)
{
	const volatile struct syscall_shape *shape;
	__u64 replaced = 0;

	state->replaced_id = 0;
	if (!finds_objects())
		return;
	shape = shape_of(state->syscall >> ABI_SHIFT, state->syscall & NUMBER_MAX);
	/* what is at the second one gets its name while it has it; of mounts it stays */
	if (shape->path2 && see_argument(scratch, state, shape->path2, shape->dirfd2, !shape->keeps_link) && shape->keeps_link) {
		if (!exchanges(state, shape))
			keep_removed(scratch, state);
		state->replaced_id = scratch->seen.handle_id;
		replaced = scratch->seen.inode;
	}
	if (!see_argument(scratch, state, shape->path, shape->dirfd, !shape->keeps_link))
		return;
	keep_seen(scratch, state);
	if (scratch->seen.inode == replaced) /* two names of one file: both stay */
		state->replaced_id = 0;
	if (shape->special == SPECIAL_REMOVE)
		keep_removed(scratch, state);
}

/* What the new name stood for; with RENAME_EXCHANGE it has the old one now. */
static __always_inline void follow_rename(struct scratch *scratch)
{
	struct task_state *state = state_of(this_task());
	bool exchanged;

	if (!state || scratch->event.result < 0 || scratch->event.present & SYSCALL_HAS_ENTRY_MISSED || !state->replaced_id)
		return;
	exchanged = exchanges(state, shape_of(state->syscall >> ABI_SHIFT, state->syscall & NUMBER_MAX));
	touch(scratch, exchanged ? EVENT_ROLE_EXCHANGED : EVENT_ROLE_REPLACED, -1, state->replaced_id, 0);
}
