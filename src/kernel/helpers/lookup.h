/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The object that a path leads to, as the kernel's own cache of names has it right after (or before) a call that took the path:
 *
 *   "a/b" from (dentry, mount)     hash of "a", salted with the dentry ──► bucket ──► dentry of a ──► … ──► dentry of a/b, mount
 *
 * Where the buckets are src/capture finds out (directory_cache.cpp). Symbolic links whose text is in memory, mounts, '.' and '..'
 * are followed. Not found: what is not in the cache, names in directories that compare them in a way of their own (case, /proc/sys),
 * links of file systems that keep their text elsewhere (overlayfs). Then the event has the path, and no object.
 */
#pragma once

#include "kernel/helpers/object.h"

/* struct hlist_bl_head of the cache's table, 0: not known; a bucket is hash >> directory_shift. Written by src/capture. */
__u64 directory_buckets;
__u32 directory_shift;

/* Text is in kernel memory; dirfd as in openat. 1: scratch->lookup has where it leads. */
int look_up(scratch_ref ref, __u64 text, __s32 dirfd, bool follow);

/* Fills scratch->seen from what look_up() found. */
static __always_inline void see_looked_up(struct scratch *scratch)
{
	struct mount *mount = (void *)scratch->lookup.mount;

	see_directory(scratch, scratch->lookup.dentry, (__u64)&mount->mnt);
}
