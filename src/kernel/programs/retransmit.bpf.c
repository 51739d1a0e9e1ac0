/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tp_btf/tcp_retransmit_skb: TCP sends bytes again, a SYN or a FIN too, on a socket on which a watched thread made a call.
 *
 * The only program that runs in interrupts: it may come in the middle of another one on its CPU. So it shares nothing with
 * them that is written: no scratch, and its ring is its own. Should it come in the middle of itself, the kernel leaves the
 * inner one out and counts it (recursion_misses); src/capture says so.
 *
 *   stream      0 ........ here | ............ snd_nxt        here = bytes_sent - bytes_retrans - (snd_nxt - its number)
 */
#include "kernel/helpers/socket.h"

const volatile bool retransmission_tells_error; /* the tracepoint has a third argument: 0, or why it was not sent */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct inet_connection_sock {
	__u8 icsk_ca_state : 5;
};

struct sk_buff {
	unsigned int len;
	char cb[48];
};

struct tcp_skb_cb {
	__u32 seq;
	__u16 tcp_gso_segs;
	__u16 tcp_flags;
};

#pragma clang attribute pop

#define TCP_FLAG_FIN 1
#define TCP_FLAG_SYN 2

/* Where it builds what it is about to write. */
struct retransmission_buffer {
	struct retransmission_fact fact;
	__u64 key; /* address of the struct sock */
	__u64 skb; /* address */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct retransmission_buffer);
} retransmission_buffers SEC(".maps");

/* Memory of a struct sock comes again: it is still the socket that was announced, or what its close left to be sent. */
static __always_inline bool is_same_stream(struct sock *sk, const struct tcp_stream *stream)
{
	__u64 socket = number_at(&sk->sk_socket);
	struct inode *inode;

	if (!socket)
		return (socket_ends(sk) ^ stream->ends) >> 1 == 0;
	inode = typed(inode, (void *)socket + (bpf_core_field_offset(struct socket_alloc, vfs_inode) -
					       bpf_core_field_offset(struct socket_alloc, socket)));
	return READ(inode, i_ino) == stream->ino;
}

static __always_inline __u64 position_of(struct sock *sk, __u32 number)
{
	struct tcp_sock *tcp = typed(tcp_sock, sk);
	__u64 written_after = (__u32)(READ(tcp, write_seq) - number) - queued_fin(READ(sk, __sk_common.skc_state));

	return bytes_written(sk, tcp) - written_after;
}

/* The kernel counts what it tries to send before it says so here; a stream that was remembered in between has these already. */
static __always_inline __u32 missed_segments(struct tcp_stream *stream, struct tcp_sock *tcp, __u32 segments)
{
	__u32 counted = READ(tcp, total_retrans) - stream->sent_again;

	stream->sent_again += counted;
	return counted > segments ? counted - segments : 0;
}

static __always_inline void fill_retransmission(struct retransmission_fact *fact, struct sock *sk, struct sk_buff *skb)
{
	struct tcp_skb_cb *sent = typed(tcp_skb_cb, skb->cb);
	struct inet_connection_sock *connection = typed(inet_connection_sock, sk);

	fact->bytes = READ(skb, len);
	fact->segments = READ(sent, tcp_gso_segs);
	fact->tcp_flags = READ(sent, tcp_flags) & (TCP_FLAG_SYN | TCP_FLAG_FIN);
	fact->congestion_state = BPF_CORE_READ_BITFIELD_PROBED(connection, icsk_ca_state);
	if (fact->tcp_flags & TCP_FLAG_SYN)
		return;
	fact->stream_offset = position_of(sk, READ(sent, seq));
	fact->present = RETRANSMISSION_HAS_OFFSET;
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(retransmitted, const struct sock *trusted_sk, const struct sk_buff *trusted_skb)
{
	struct ring_control *control = ring_control(STREAM_INTERRUPTS);
	struct retransmission_buffer *buffer;
	struct retransmission_fact *fact;
	struct tcp_stream *stream;
	struct sock *sk;
	__u32 zero = 0;

	if (retransmission_tells_error && (__s32)((volatile __u64 *)ctx)[2])
		return 0;
	buffer = bpf_map_lookup_elem(&retransmission_buffers, &zero);
	if (!buffer || !control)
		return 0;
	*(volatile __u64 *)&buffer->key = (__u64)trusted_sk;
	*(volatile __u64 *)&buffer->skb = (__u64)trusted_skb;
	stream = bpf_map_lookup_elem(&tcp_streams, &buffer->key);
	sk = typed(sock, *(volatile __u64 *)&buffer->key);
	if (!stream || !is_same_stream(sk, stream))
		return 0;
	control->generated++;
	fact = &buffer->fact;
	__builtin_memset(fact, 0, sizeof(*fact));
	fact->header.type = RECORD_RETRANSMISSION;
	fact->header.flags = RECORD_MAY_BE_SKIPPED;
	fact->time_ns = bpf_ktime_get_boot_ns();
	fact->handle_id = stream->handle_id;
	fact->cpu = bpf_get_smp_processor_id();
	fill_retransmission(fact, sk, typed(sk_buff, *(volatile __u64 *)&buffer->skb));
	fact->missed_segments = missed_segments(stream, typed(tcp_sock, sk), fact->segments);
	emit(STREAM_INTERRUPTS, &fact->header, sizeof(*fact));
	return 0;
}
