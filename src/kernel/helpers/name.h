/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Paths, read from the dentry up to the root of the mount namespace (name.bpf.c).
 *
 *   scratch->path  |................/usr/share/zoneinfo|
 *                                  ^ walk.at            ^ PATH_BYTES_MAX
 */
#pragma once

#include "kernel/helpers/filter.h"

#define FACT_FIELDS_MAX 512 /* a fact without its attachments */

enum path_flag { PATH_TORN = 1, PATH_UNLINKED = 2, PATH_CUT = 4 };

static __always_inline struct mount *mount_of(struct vfsmount *mnt)
{
	return (void *)mnt - bpf_core_field_offset(struct mount, mnt);
}

/*
 * Reads a path into scratch->path; length is PATH_BYTES_MAX - walk.at. Global, so that the verifier looks at it once and
 * not at each call; so are the other functions here that are not static.
 */
int read_path_of(scratch_ref ref, __u64 dentry_address, __u64 mnt_address);

static __always_inline void read_path(struct scratch *scratch, struct dentry *dentry, struct vfsmount *mnt)
{
	__u64 dentry_address = number_of(scratch, dentry);

	read_path_of(ref_of(scratch), dentry_address, number_of(scratch, mnt));
}

/* Puts the path of a node of the tree of cgroups into scratch->path; nothing for its root. */
int read_cgroup_path(scratch_ref ref, __u64 node_address);

static __always_inline struct kernfs_node *kernfs_parent(struct kernfs_node *node)
{
	if (bpf_core_field_exists(node->__parent))
		return BPF_CORE_READ(node, __parent);
	return BPF_CORE_READ((struct kernfs_node___before_6_15 *)(void *)node, parent);
}

/* Copies the path just read after the `at` bytes of the fact, which are at most at_max; returns the bytes added. */
static __always_inline __u32 attach_walked(struct scratch *scratch, __u32 at, __u16 kind, __u32 at_max, __u32 length_max)
{
	__u32 from = scratch->walk.at, length;
	struct attachment_header *header;

	if (from >= PATH_BYTES_MAX || at > at_max)
		return 0;
	length = PATH_BYTES_MAX - from;
	opaque(length); /* or both limits become one of `from`, and 6.1 knows none of the length */
	if (length > length_max)
		return 0;
	header = (void *)scratch->fact.bytes + at;
	header->kind = kind;
	header->length = length;
	header->reserved = 0;
	bpf_probe_read_kernel(header + 1, length, scratch->path + from);
	return sizeof(*header) + padded(length);
}

static __always_inline __u32 attach_path(struct scratch *scratch, __u32 at, __u16 kind)
{
	return attach_walked(scratch, at, kind, FACT_FIELDS_MAX, PATH_BYTES_MAX);
}
