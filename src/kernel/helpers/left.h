/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a read has left: whether a pipe, the queue of a unix socket or the counter of an eventfd is empty when the call ends. So one that is older
 * than the recording is known from there on, also where a program reads no more than is there.
 *
 * And whether another process may have used that end: who takes bytes and puts as many leaves a sum as it was, and only who is recorded is seen to do so.
 *
 * Nothing is locked: what another thread does between the read and this look overlaps the call.
 */
#pragma once

#include "kernel/helpers/object.h"

#define NAME_OF_EVENTFD 0x6466746e6576655bULL /* "[eventfd" */

/* Whether the open file that was just seen has one descriptor and no name by which others open it, or is no pipe and no unix socket. */
static __always_inline bool is_held_alone(const struct scratch *scratch, __u64 file_address)
{
	struct inode *inode = typed(inode, scratch->seen.inode);
	struct sock *sk = typed(sock, scratch->seen.sk);
	struct pipe_inode_info *pipe;

	if (scratch->seen.object_type == OBJECT_TYPE_PIPE) {
		pipe = READ(inode, i_pipe);
		if (!pipe || READ(inode, i_sb, s_magic) != PIPEFS_MAGIC || READ(pipe, readers) > 1 || READ(pipe, writers) > 1)
			return false;
	} else if (scratch->seen.object_type != OBJECT_TYPE_SOCKET || !scratch->seen.sk ||
		   READ(sk, __sk_common.skc_family) != AF_UNIX) {
		return true;
	}
	return references_of(typed(file, file_address)) == 1;
}

/* Whether a reader of the open file that was just seen, which has no position, would find nothing now. */
static __always_inline bool leaves_nothing(const struct scratch *scratch, __u64 file_address)
{
	struct file *file = typed(file, file_address);
	struct pipe_inode_info *pipe;
	struct sock *sk;

	switch (scratch->seen.object_type) {
	case OBJECT_TYPE_PIPE:
		pipe = READ(typed(inode, scratch->seen.inode), i_pipe);
		return pipe && READ(pipe, head) == READ(pipe, tail);
	case OBJECT_TYPE_SOCKET:
		sk = typed(sock, scratch->seen.sk);
		return scratch->seen.sk && READ(sk, __sk_common.skc_family) == AF_UNIX && !READ(sk, sk_receive_queue.qlen);
	case OBJECT_TYPE_ANONYMOUS:
		return number_at(READ(file, f_path.dentry, d_name.name)) == NAME_OF_EVENTFD &&
		       !READ(typed(eventfd_ctx, READ(file, private_data)), count);
	}
	return false;
}
