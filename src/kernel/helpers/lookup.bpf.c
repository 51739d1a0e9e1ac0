/* SPDX-License-Identifier: GPL-2.0 */
/* Walks down the kernel's cache of names, see lookup.h. Its entries end by RCU, so that what is read here is at worst out of date. */
#include "kernel/helpers/lookup.h"
#include "kernel/content/xxh64.h"

#define LOOKUP_STEPS_MAX 2560 /* words of a path of PATH_MAX in components of one letter, and links */
#define BUCKET_DEPTH_MAX 64
#define MOUNTS_ON_ONE_MAX 256
#define STEPS_UP_MAX 16 /* mounts in one directory, over each other */
#define EACH_BYTE 0x0101010101010101ull
#define EACH_TOP_BIT 0x8080808080808080ull
#define GOLDEN_RATIO 0x61C8864680B583EBull

static __always_inline __u64 zero_bytes(__u64 word)
{
	return (word - EACH_BYTE) & ~word & EACH_TOP_BIT; /* the lowest bit is right, which is all that is asked */
}

/* HASH_MIX and fold_hash of fs/namei.c. */
static __always_inline void mix_name(struct lookup *lookup, __u64 word)
{
	__u64 x = lookup->x ^ word, y = lookup->y ^ x;

	x = rotated(x, 12) + y;
	lookup->x = x;
	lookup->y = rotated(y, 45) * 9;
}

static __always_inline __u32 name_hash(const struct lookup *lookup, __u64 last_word)
{
	__u64 y = lookup->y ^ (lookup->x ^ last_word) * GOLDEN_RATIO;

	return y * GOLDEN_RATIO >> 32;
}

static __always_inline void begin_component(struct lookup *lookup)
{
	lookup->x = 0;
	lookup->y = lookup->dentry;
	lookup->length = 0;
}

static __always_inline bool is_mounted_on(struct dentry *dentry)
{
	unsigned int bit = bpf_core_enum_value_exists(enum dentry_flags, DCACHE_MOUNTED)
				   ? bpf_core_enum_value(enum dentry_flags, DCACHE_MOUNTED)
				   : DCACHE_MOUNTED_BEFORE_6_13;

	return READ(dentry, d_flags) & bit;
}

static __always_inline void begin_mounts(struct lookup *lookup)
{
	lookup->mounts = lookup->mount + bpf_core_field_offset(struct mount, mnt_mounts);
	lookup->mounted = (__u64)READ(typed(list_head, lookup->mounts), next);
}

struct bucket_walk {
	__u64 directory, name;
	__u64 node; /* looked at next; 0: there is none */
};

LOOP_BODY(enter_mount)
{
	struct scratch *scratch = cpu_scratch();
	struct lookup *lookup;
	struct mount *child;

	if (!scratch)
		return 1;
	lookup = &scratch->lookup;
	if (lookup->mounted == lookup->mounts)
		return 1;
	child = typed(mount, lookup->mounted - bpf_core_field_offset(struct mount, mnt_child));
	lookup->mounted = (__u64)READ(child, mnt_child.next);
	if ((__u64)READ(child, mnt_mountpoint) != lookup->dentry)
		return 0;
	lookup->mount = (__u64)child;
	lookup->dentry = (__u64)READ(child, mnt.mnt_root);
	if (!is_mounted_on(typed(dentry, lookup->dentry)))
		return 1;
	begin_mounts(lookup);
	return 0;
}

/* Goes on in what is mounted here. 0: there is too much to look at. A loop of the verifier's would cost it 20,000 instructions. */
__noinline int enter_mounts(scratch_ref ref)
{
	struct scratch *scratch = scratch_of(ref);

	if (!scratch)
		return 0;
	begin_mounts(&scratch->lookup);
	return each_turn(MOUNTS_ON_ONE_MAX, enter_mount) < MOUNTS_ON_ONE_MAX;
}

/* Goes to what lies uppermost where the path has come to; false: not known. */
static __always_inline bool go_on_top(struct scratch *scratch)
{
	return !is_mounted_on(typed(dentry, scratch->lookup.dentry)) || enter_mounts(ref_of(scratch));
}

LOOP_BODY(leave_mount)
{
	struct scratch *scratch = cpu_scratch();
	struct lookup *lookup;
	struct mount *mount;

	if (!scratch)
		return 1;
	lookup = &scratch->lookup;
	mount = typed(mount, lookup->mount);
	if (lookup->dentry == lookup->root_dentry && lookup->mount == lookup->root_mount)
		return 1;
	if (lookup->dentry != (__u64)READ(mount, mnt.mnt_root)) {
		lookup->dentry = (__u64)READ(typed(dentry, lookup->dentry), d_parent);
		return 1;
	}
	if ((__u64)READ(mount, mnt_parent) == lookup->mount)
		return 1;
	lookup->dentry = (__u64)READ(mount, mnt_mountpoint);
	lookup->mount = (__u64)READ(mount, mnt_parent);
	return 0;
}

/* '..' of what is mounted is that of where it is mounted; that of the root the root. 0: there is too much to leave. */
__noinline int go_up(scratch_ref ref)
{
	opaque(ref);
	return each_turn(STEPS_UP_MAX, leave_mount) < STEPS_UP_MAX;
}

/* One entry of the bucket; true: no need to look further, it is found (`walk->node`) or not there (0). */
static __always_inline bool is_last_entry(struct bucket_walk *walk)
{
	struct dentry *dentry = typed(dentry, walk->node - bpf_core_field_offset(struct dentry, d_hash));

	if (!walk->node)
		return true;
	if ((__u64)READ(dentry, d_parent) == walk->directory && READ(dentry, d_name.hash_len) == walk->name)
		return true;
	walk->node = (__u64)READ(dentry, d_hash.next);
	return false;
}

static long look_at_entry(__u32 index, void *context)
{
	return is_last_entry(context);
}

/* The entry of this name in the directory that was reached; 0: not there. Buckets have one entry or two, all but a few. */
static __always_inline __u64 entry_of(const struct lookup *lookup, __u32 hash, __u32 length)
{
	struct bucket_walk walk = { .directory = lookup->dentry, .name = hash | (__u64)length << 32 };

	walk.node = number_at(directory_buckets + (hash >> (directory_shift & 31)) * sizeof(__u64)) & ~1ull;
	if (!is_last_entry(&walk) && !is_last_entry(&walk) &&
	    each_small_turn(BUCKET_DEPTH_MAX, BUCKET_DEPTH_MAX, look_at_entry, &walk) == BUCKET_DEPTH_MAX)
		return 0;
	return walk.node ? walk.node - bpf_core_field_offset(struct dentry, d_hash) : 0;
}

/* One name deeper; false: it leads nowhere that is known. */
static __always_inline bool enter_name(struct scratch *scratch, __u32 hash, bool is_last)
{
	struct lookup *lookup = &scratch->lookup;
	struct dentry *directory = typed(dentry, lookup->dentry), *dentry;
	struct inode *inode;
	__u64 entry;

	if (READ(directory, d_flags) & (DCACHE_OP_HASH | DCACHE_OP_COMPARE))
		return false;
	entry = entry_of(lookup, hash, lookup->length);
	dentry = typed(dentry, entry);
	if (!entry)
		return false;
	inode = READ(dentry, d_inode);
	if (!inode)
		return false;
	if ((READ(inode, i_mode) & S_IFMT) == S_IFLNK && !(is_last && !lookup->follow))
		return enter_link(ref_of(scratch), number_of(scratch, dentry));
	lookup->dentry = entry;
	return go_on_top(scratch);
}

/* A word of the path. */
LOOP_BODY(look_up_word)
{
	struct scratch *scratch = cpu_scratch();
	__u64 word, ends, kept, bytes;
	struct lookup *lookup;
	bool at_end;

	if (!scratch)
		return 1;
	lookup = &scratch->lookup;
	word = number_at(lookup->text);
	ends = zero_bytes(word) | zero_bytes(word ^ EACH_BYTE * '/');
	if (!ends) {
		mix_name(lookup, word);
		lookup->length += sizeof(word);
		lookup->text += sizeof(word);
		return lookup->length >= NAME_BYTES_MAX;
	}
	kept = ((ends - 1) & ~ends) >> 7; /* ones in the bytes before the end */
	bytes = (kept & EACH_BYTE) * EACH_BYTE >> 56;
	lookup->text += bytes;
	at_end = (word >> (bytes * 8) & 0xff) == 0;
	word &= kept;
	if (lookup->length == 0 && bytes == 2 && word == ('.' | '.' << 8)) {
		if (!go_up(ref_of(scratch)) || !go_on_top(scratch))
			return 1;
	} else if (!(lookup->length == 0 && (bytes == 0 || (bytes == 1 && word == '.')))) {
		lookup->length += bytes;
		if (!enter_name(scratch, name_hash(lookup, word), at_end && lookup->depth == 0))
			return 1;
		at_end = (number_at(lookup->text) & 0xff) == 0;
	}
	begin_component(lookup);
	if (!at_end) {
		lookup->text += (number_at(lookup->text) & 0xff) == '/';
		return 0;
	}
	if (lookup->depth == 0) {
		lookup->found = true;
		return 1;
	}
	lookup->depth--;
	lookup->text = lookup->after[lookup->depth & (LINKS_MAX - 1)];
	return 0;
}

__noinline int look_up(scratch_ref ref, __u64 text, __s32 dirfd, bool follow)
{
	struct scratch *scratch = scratch_of(ref);
	struct task_struct *task = current_task();
	struct fs_struct *fs = LOAD(task, fs);
	struct lookup *lookup;
	struct file *file;

	if (!scratch || !directory_buckets || !fs)
		return 0;
	lookup = &scratch->lookup;
	lookup->root_dentry = (__u64)LOAD(fs, root.dentry);
	lookup->root_mount = (__u64)mount_of(LOAD(fs, root.mnt));
	if ((number_at(text) & 0xff) == '/') {
		lookup->dentry = lookup->root_dentry;
		lookup->mount = lookup->root_mount;
		text++;
	} else if (dirfd == AT_FDCWD) {
		lookup->dentry = (__u64)LOAD(fs, pwd.dentry);
		lookup->mount = (__u64)mount_of(LOAD(fs, pwd.mnt));
	} else {
		file = typed(file, file_of(task, dirfd));
		lookup->dentry = (__u64)READ(file, f_path.dentry);
		lookup->mount = (__u64)mount_of(READ(file, f_path.mnt));
	}
	if (!lookup->dentry)
		return 0;
	lookup->text = text;
	lookup->depth = 0;
	lookup->follow = follow;
	lookup->found = false;
	begin_component(lookup);
	each_turn(LOOKUP_STEPS_MAX, look_up_word);
	return lookup->found;
}
