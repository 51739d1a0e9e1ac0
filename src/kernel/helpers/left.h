/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a read has left: whether a pipe, the queue of a unix socket or the counter of an eventfd is empty when the call ends. So one that is older
 * than the recording is known from there on, also where a program reads no more than is there.
 *
 * Nothing is locked: what another thread does between the read and this look overlaps the call.
 */
#pragma once

#include "kernel/helpers/object.h"

#define NAME_OF_EVENTFD 0x6466746e6576655bULL /* "[eventfd" */

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
