/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tp_btf/tcp_sendmsg_locked, tp_btf/tcp_rcv_space_adjust: where in its stream a call's bytes begin (sent) or end (read), seen
 * while the kernel holds the socket. At entry that is wrong in up to 8 % of the calls of threads that share a socket.
 */
#include "kernel/helpers/offset.h"
#include "kernel/helpers/socket.h"

__noinline int find_stream_offset(scratch_ref ref, __u64 moved, __u32 inbound, __u32 message_flags)
{
	struct scratch *scratch = scratch_of(ref);
	struct task_state *state = state_of(this_task());
	struct tcp_sock *tcp;
	struct sock *sk;

	if (!scratch || !state || !scratch->seen.sk || !moved)
		return 0;
	sk = typed(sock, scratch->seen.sk);
	tcp = typed(tcp_sock, scratch->seen.sk);
	if (!is_tcp(sk))
		return 0;
	if (!inbound) {
		scratch->seen.stream_offset =
			state->stream_sk == scratch->seen.sk ? state->stream_at : sent_position(tcp) - moved;
		return 1;
	}
	if (message_flags & MSG_OOB)
		return 0;
	if (message_flags & MSG_PEEK) {
		__s32 skipped = READ(sk, sk_peek_off);

		scratch->seen.stream_offset = read_position(tcp) + (skipped > 0 ? skipped - moved : 0);
		return 1;
	}
	scratch->seen.stream_offset = (state->stream_sk == scratch->seen.sk ? state->stream_at : read_position(tcp)) - moved;
	return 1;
}

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
	state->stream_at = sent_position(typed(tcp_sock, sk));
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
	state->stream_at = read_position(typed(tcp_sock, sk));
	return 0;
}
