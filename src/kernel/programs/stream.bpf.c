/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tp_btf/tcp_sendmsg_locked, tp_btf/tcp_rcv_space_adjust: where in its stream a call's bytes begin (sent) or end (read), seen
 * while the kernel holds the socket. At entry that is wrong in up to 8 % of the calls of threads that share a socket.
 */
#include "kernel/helpers/socket.h"

static __always_inline struct task_state *calling_state(void)
{
	struct task_state *state = state_of(this_task());

	return state && state->flags & TASK_IN_CALL ? state : NULL;
}

/* For each buffer that a message is copied to: the first one tells. */
SEC("tp_btf/tcp_sendmsg_locked")
int BPF_PROG(stream_sent, const struct sock *sk)
{
	struct task_state *state = calling_state();

	if (!state || state->stream_sk)
		return 0;
	state->stream_sk = (__u64)sk;
	state->stream_at = sent_position(typed(struct tcp_sock, sk));
	return 0;
}

/* After each buffer that was read: the last one tells. */
SEC("tp_btf/tcp_rcv_space_adjust")
int BPF_PROG(stream_read, struct sock *sk)
{
	struct task_state *state = calling_state();

	if (!state)
		return 0;
	state->stream_sk = (__u64)sk;
	state->stream_at = read_position(typed(struct tcp_sock, sk));
	return 0;
}
