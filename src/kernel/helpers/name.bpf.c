/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walks from a dentry to the root. bpf_d_path is refused in these programs, and rename_lock cannot be read, so a path that
 * a rename tears is found by reading its names' hashes again.
 */
#include "kernel/helpers/name.h"

#define WALK_STEPS_MAX 2112 /* PATH_MAX / 2 names, and mounts between them */
#define PSEUDO_NAME_BYTES_MAX 16
#define CGROUP_DEPTH_MAX 32

/* One step up in the tree of cgroups; its root has no name. */
LOOP_BODY(walk_cgroup_up)
{
	struct scratch *scratch = cpu_scratch();
	struct kernfs_node *node, *parent;
	__u32 at;
	long length;

	if (!scratch)
		return 1;
	node = (void *)scratch->walk.dentry;
	parent = kernfs_parent(node);
	at = scratch->walk.at;
	if (!parent || at <= NAME_BYTES_MAX || at > PATH_BYTES_MAX)
		return 1;
	/* its length is not known: read after the path's room, then put before what is there */
	length = bpf_probe_read_kernel_str(scratch->path + PATH_BYTES_MAX, NAME_BYTES_MAX, BPF_CORE_READ(node, name)) - 1;
	if (length <= 0 || length >= NAME_BYTES_MAX)
		return 1;
	at -= length + 1;
	if (at >= PATH_BYTES_MAX)
		return 1;
	scratch->path[at] = '/';
	bpf_probe_read_kernel(scratch->path + at + 1, length, scratch->path + PATH_BYTES_MAX);
	scratch->walk.at = at;
	scratch->walk.dentry = (__u64)parent;
	return 0;
}

__noinline int read_cgroup_path(scratch_ref ref, __u64 node_address)
{
	struct scratch *scratch = scratch_of(ref);

	if (!scratch)
		return 0;
	scratch->walk.at = PATH_BYTES_MAX;
	scratch->walk.dentry = node_address;
	each_turn(CGROUP_DEPTH_MAX, walk_cgroup_up);
	return 0;
}

/* One step up. Leaves the mount where it has reached its root. */
LOOP_BODY(walk_up)
{
	struct scratch *scratch = cpu_scratch();
	struct dentry *dentry, *parent;
	struct mount *mount, *above;
	const unsigned char *name;
	__u32 length, at;

	if (!scratch)
		return 1;
	dentry = (void *)scratch->walk.dentry;
	if (scratch->walk.dentry == scratch->walk.mount_root) {
		mount = (void *)scratch->walk.mount;
		above = BPF_CORE_READ(mount, mnt_parent);
		if (above == mount)
			return 1;
		scratch->walk.dentry = (__u64)BPF_CORE_READ(mount, mnt_mountpoint);
		scratch->walk.mount = (__u64)above;
		scratch->walk.mount_root = (__u64)BPF_CORE_READ(above, mnt.mnt_root);
		return 0;
	}
	parent = BPF_CORE_READ(dentry, d_parent);
	if (parent == dentry)
		return 1;
	length = BPF_CORE_READ(dentry, d_name.len);
	name = BPF_CORE_READ(dentry, d_name.name);
	scratch->walk.hash = scratch->walk.hash * 31 + BPF_CORE_READ(dentry, d_name.hash_len);
	at = scratch->walk.at;
	if (length >= NAME_BYTES_MAX || at > PATH_BYTES_MAX || at < length + 1) {
		scratch->walk.flags |= PATH_CUT;
		return 1;
	}
	at -= length + 1;
	if (at >= PATH_BYTES_MAX)
		return 1;
	if (!scratch->walk.silent) {
		scratch->path[at] = '/';
		bpf_probe_read_kernel(scratch->path + at + 1, length, name);
	}
	scratch->walk.at = at;
	scratch->walk.dentry = (__u64)parent;
	return 0;
}

/* Puts a short text where a path is expected. */
static __always_inline void put_name(struct scratch *scratch, const void *name)
{
	char text[PSEUDO_NAME_BYTES_MAX] = {};
	long length = bpf_probe_read_kernel_str(text, sizeof(text), name) - 1;
	__u32 at = PATH_BYTES_MAX - length;

	opaque(at);
	if (length <= 0 || length >= PSEUDO_NAME_BYTES_MAX || at >= PATH_BYTES_MAX)
		return;
	scratch->walk.at = at;
	bpf_probe_read_kernel(scratch->path + at, length, text);
}

/*
 * A name without a parent: memfd:x, [eventfd]. A namespace's is its kind (net), to which the reader adds the inode's number;
 * sockets, pipes and pidfds have none.
 */
static __always_inline void read_pseudo_name(struct scratch *scratch, struct dentry *dentry, __u64 magic)
{
	__u32 length = BPF_CORE_READ(dentry, d_name.len);
	const unsigned char *name = BPF_CORE_READ(dentry, d_name.name);
	__u32 at = PATH_BYTES_MAX - length;

	if (magic == NSFS_MAGIC) {
		struct ns_common *ns = BPF_CORE_READ(dentry, d_inode, i_private);

		put_name(scratch, BPF_CORE_READ(ns, ops, name));
		return;
	}
	if (magic == PIDFS_MAGIC)
		return;
	opaque(at);
	if (length == 0 || length >= NAME_BYTES_MAX || at >= PATH_BYTES_MAX)
		return;
	scratch->walk.at = at;
	scratch->walk.hash = BPF_CORE_READ(dentry, d_name.hash_len);
	bpf_probe_read_kernel(scratch->path + at, length, name);
}

/* Walks from a dentry to the root; returns the hash of the names on the way. */
__noinline __u64 walk_path(scratch_ref ref, __u64 dentry_address, __u64 mnt_address, bool silent)
{
	struct scratch *scratch = scratch_of(ref);
	struct vfsmount *mnt = (void *)mnt_address;

	if (!scratch)
		return 0;
	scratch->walk.at = PATH_BYTES_MAX;
	scratch->walk.hash = 0;
	scratch->walk.silent = silent;
	scratch->walk.dentry = dentry_address;
	scratch->walk.mount = (__u64)mount_of(mnt);
	scratch->walk.mount_root = (__u64)BPF_CORE_READ(mnt, mnt_root);
	if (each_turn(WALK_STEPS_MAX, walk_up) == TURNS_MAX)
		scratch->walk.flags |= PATH_CUT;
	return scratch->walk.hash;
}

__noinline int read_path_of(scratch_ref ref, __u64 dentry_address, __u64 mnt_address)
{
	struct scratch *scratch = scratch_of(ref);
	struct dentry *dentry = (void *)dentry_address;
	struct vfsmount *mnt = (void *)mnt_address;
	struct dentry *root = BPF_CORE_READ(mnt, mnt_root);
	__u64 magic = BPF_CORE_READ(dentry, d_sb, s_magic), hash;

	if (!scratch)
		return 0;
	scratch->walk.at = PATH_BYTES_MAX;
	scratch->walk.flags = 0;
	scratch->walk.hash = 0;
	if (magic == NSFS_MAGIC || magic == PIDFS_MAGIC || (dentry != root && BPF_CORE_READ(dentry, d_parent) == dentry)) {
		read_pseudo_name(scratch, dentry, magic);
		return 0;
	}
	if (dentry != root && !BPF_CORE_READ(dentry, d_hash.pprev))
		scratch->walk.flags |= PATH_UNLINKED;
	hash = walk_path(ref_of(scratch), dentry_address, mnt_address, false);
	if (walk_path(ref_of(scratch), dentry_address, mnt_address, true) != hash) {
		hash = walk_path(ref_of(scratch), dentry_address, mnt_address, false);
		if (walk_path(ref_of(scratch), dentry_address, mnt_address, true) != hash)
			scratch->walk.flags |= PATH_TORN;
	}
	if (scratch->walk.at == PATH_BYTES_MAX && magic != SOCKFS_MAGIC) {
		scratch->walk.at = PATH_BYTES_MAX - 1;
		scratch->path[PATH_BYTES_MAX - 1] = '/';
	}
	return 0;
}
