/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The object that a path leads to, as the kernel's own cache of names has it right after (or before) a call that took the path:
 *
 *   "a/b" from (dentry, mount)     hash of "a", salted with the dentry ──► bucket ──► dentry of a ──► … ──► dentry of a/b, mount
 *
 * Where the buckets are src/capture finds out (directory_cache.cpp). Symbolic links, mounts, '.' and '..' are followed (link.bpf.c).
 * Not found: what is not in the cache, names in directories that compare them in a way of their own (case, /proc/sys), and what is
 * behind a link whose text is not at hand. Then the event has the path, and no object.
 */
#pragma once

#include "kernel/helpers/object.h"

/* struct hlist_bl_head of the cache's table, 0: not known; a bucket is hash >> directory_shift. Written by src/capture. */
__u64 directory_buckets;
__u32 directory_shift;
__u64 links_unread; /* met by calls, and not followed */

/* Text is in kernel memory; dirfd as in openat. 1: scratch->lookup has where it leads. */
int look_up(scratch_ref ref, __u64 text, __s32 dirfd, bool follow);

/* Goes on with the text of a link in the directory that was reached, and then with what comes after it; 0: not known, or too many. */
int enter_link(scratch_ref ref, __u64 link);

/* Fills scratch->seen from what look_up() found. */
static __always_inline void see_looked_up(struct scratch *scratch)
{
	struct mount *mount = (void *)scratch->lookup.mount;

	see_directory(scratch, scratch->lookup.dentry, (__u64)&mount->mnt);
}
