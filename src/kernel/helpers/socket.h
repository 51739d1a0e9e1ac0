/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sockets: their ends, announced anew when they change, and where in a TCP stream they are.
 *
 *   stream      0 .... snd_una .... snd_nxt .... write_seq     written = bytes_acked + (write_seq - snd_una)
 *   received    0 ........ copied_seq | rcv_nxt                read = bytes_received - (rcv_nxt - copied_seq)
 *
 * SYN and FIN have numbers, too. bytes_acked has the SYN of who connected (acked_syn()) and a FIN, bytes_sent neither; a FIN that came is in
 * rcv_nxt and in bytes_received alike, and in copied_seq once a read has met it. bytes_sent - bytes_retrans is no sum to trust: what the
 * sender's own host drops (a full queue, a filter) counts each time that it is tried, and is no retransmission.
 *
 * The numbers of one sum are not written at once: a sum is taken until two in a row are equal.
 */
#pragma once

#include "kernel/helpers/name.h"
#include "kernel/helpers/unseen.h"

#define SUMS_MAX 4 /* a packet that arrives meanwhile disturbs one of them */

static __always_inline bool is_tcp(struct sock *sk)
{
	return READ(sk, sk_protocol) == IPPROTO_TCP && READ(sk, sk_type) == SOCK_STREAM;
}

/*
 * The handshake was seen to its end: both initial sequence numbers are known, also once the socket is closed or was reset. What was only refused got no
 * number of the other end, and what was disconnected has no other end.
 */
static __always_inline bool has_numbers(struct sock *sk)
{
	__u8 state = READ(sk, __sk_common.skc_state);

	if (!is_tcp(sk))
		return false;
	if (state == TCP_CLOSE)
		return READ(sk, __sk_common.skc_dport) && READ(typed(tcp_sock, sk), rcv_nxt);
	return state != TCP_SYN_SENT && state != TCP_SYN_RECV && state != TCP_NEW_SYN_RECV && state != TCP_LISTEN;
}

/* The kernel takes skc_num back when a connection is over (inet_put_port()); what stood in its packets stays. */
static __always_inline __u16 local_port(struct sock *sk)
{
	struct sock_common *common = &sk->__sk_common;

	if (!READ(common, skc_num) && READ(common, skc_dport) && is_tcp(sk))
		return __builtin_bswap16(READ(typed(inet_sock, sk), inet_sport));
	return READ(common, skc_num);
}

/* Changes when a socket's ends do; no more than a digest, so addresses are compared in full when announced. */
static __always_inline __u64 socket_ends(struct sock *sk)
{
	__u64 digest = 0;
	__u16 family;

	if (!sk)
		return 0;
	family = READ(sk, __sk_common.skc_family);
	if (family == AF_UNIX) {
		struct unix_sock *unix_sock = (void *)sk;
		__u64 address = 0, peer = 0; /* read as numbers: pointers can't be multiplied */

		bpf_core_read(&address, sizeof(address), &unix_sock->addr);
		bpf_core_read(&peer, sizeof(peer), &unix_sock->peer);
		return address * 31 + peer;
	}
	if (family != AF_INET && family != AF_INET6)
		return 0;
	digest = (__u32)local_port(sk) << 16 | READ(sk, __sk_common.skc_dport);
	digest = digest << 32 ^ READ(sk, __sk_common.skc_daddr) ^ (__u64)READ(sk, __sk_common.skc_rcv_saddr) << 7;
	if (family == AF_INET6) {
		__u64 address[4];

		bpf_core_read(&address[0], 16, &sk->__sk_common.skc_v6_daddr);
		bpf_core_read(&address[2], 16, &sk->__sk_common.skc_v6_rcv_saddr);
		digest = digest * 31 + (address[0] ^ address[1] * 3 ^ address[2] * 5 ^ address[3] * 7);
	}
	return digest * 2 + has_numbers(sk);
}

/* 1 or 0, and no branch, which the verifier would follow each way in each round of a loop. */
static __always_inline __u32 is_zero(__u32 number)
{
	__u64 below = (__u64)number - 1;

	opaque(below);
	return below >> 63;
}

#define FIN_QUEUED (1 << TCP_FIN_WAIT1 | 1 << TCP_FIN_WAIT2 | 1 << TCP_CLOSING | 1 << TCP_LAST_ACK)

/* 1 or 0. The FIN is queued when such a state begins, */
static __always_inline __u32 queued_fin(__u8 state)
{
	return FIN_QUEUED >> (state & 31) & 1;
}

/* and may have to wait until it is sent. */
static __always_inline __u32 sent_fin(struct tcp_sock *tcp, __u8 state)
{
	return queued_fin(state) & is_zero(READ(tcp, write_seq) - READ(tcp, snd_nxt));
}

/*
 * 1 or 0: bytes_acked has the SYN. That of who connected was acknowledged by the other end; a socket that was accepted begins with its SYN behind it.
 * Both sums tell, unless something was dropped before it left (or the socket is closed, when nobody knows whether a FIN was sent): then what a
 * socket that was accepted has of the one that listened.
 */
static __always_inline __u32 acked_syn(struct sock *sk, struct tcp_sock *tcp, __u8 state)
{
	__u32 sent = READ(tcp, bytes_sent) - READ(tcp, bytes_retrans);
	__u32 more = READ(tcp, snd_nxt) - sent_fin(tcp, state) - sent - READ(tcp, snd_una) + (__u32)READ(tcp, bytes_acked);

	return (is_zero(more - 1) & (state != TCP_CLOSE)) | (is_zero(READ(sk, sk_max_ack_backlog)) & (is_zero(more) ^ 1));
}

static __always_inline __u64 sequence_numbers(struct sock *sk, struct tcp_sock *tcp, __u8 state)
{
	__u32 own = READ(tcp, snd_una) - (__u32)READ(tcp, bytes_acked) + acked_syn(sk, tcp, state);
	__u32 other = READ(tcp, rcv_nxt) - (__u32)READ(tcp, bytes_received);

	return own < other ? (__u64)own << 32 | other : (__u64)other << 32 | own;
}

/* The same on both ends: each knows both initial sequence numbers. 0 while they are not known. */
static __always_inline __u64 connection_id(struct sock *sk)
{
	struct tcp_sock *tcp = typed(tcp_sock, sk);
	__u8 state = READ(sk, __sk_common.skc_state);
	__u64 id, again;

	if (!has_numbers(sk))
		return 0;
	id = sequence_numbers(sk, tcp, state);
#pragma clang loop unroll(disable) /* unrolled it takes 8 bytes more of a stack that is full */
	for (int i = 0; i < SUMS_MAX; i++) {
		barrier();
		again = sequence_numbers(sk, tcp, state);
		if (again == id)
			break;
		id = again;
	}
	return id;
}

/* Without a FIN. */
static __always_inline __u64 bytes_written(struct sock *sk, struct tcp_sock *tcp)
{
	__u8 state = READ(sk, __sk_common.skc_state);

	return READ(tcp, bytes_acked) + (__u32)(READ(tcp, write_seq) - READ(tcp, snd_una)) - acked_syn(sk, tcp, state) -
	       queued_fin(state);
}

static __always_inline __u64 sent_position(struct tcp_sock *tcp)
{
	struct sock *sk = typed(sock, (__u64)tcp);
	__u64 position = bytes_written(sk, tcp), again;

	for (int i = 0; i < SUMS_MAX; i++) {
		barrier();
		again = bytes_written(sk, tcp);
		if (again == position)
			break;
		position = again;
	}
	return position;
}

/* A FIN that came (tcp_fin() sets SOCK_DONE) and that a read has met is the last of what came. */
static __always_inline __u64 bytes_read(struct tcp_sock *tcp, struct sock *sk)
{
	__u32 unread = READ(tcp, rcv_nxt) - READ(tcp, copied_seq);

	return READ(tcp, bytes_received) - unread - (is_zero(unread) & READ(sk, __sk_common.skc_flags) >> SOCK_DONE);
}

static __always_inline __u64 read_position(struct tcp_sock *tcp)
{
	struct sock *sk = typed(sock, (__u64)tcp);
	__u64 position = bytes_read(tcp, sk), again;

	for (int i = 0; i < SUMS_MAX; i++) {
		barrier();
		again = bytes_read(tcp, sk);
		if (again == position)
			break;
		position = again;
	}
	return position;
}

static __always_inline __u32 attach_unix_name(struct scratch *scratch, __u32 at, struct unix_address *address, __u16 kind)
{
	struct attachment_header *header;
	__u32 length;

	if (!address || at > 512)
		return 0;
	length = BPF_CORE_READ(address, len);
	if (length <= 2 || length > 110)
		return 0;
	length -= 2;
	header = (void *)scratch->fact.bytes + at;
	header->kind = kind;
	header->length = length;
	header->reserved = 0;
	bpf_probe_read_kernel(header + 1, length, (void *)address + bpf_core_field_offset(struct unix_address, name) + 2);
	return sizeof(*header) + padded(length);
}

static __always_inline __u32 fill_unix_names(struct scratch *scratch, __u32 at, struct sock *sk)
{
	struct unix_sock *own = typed(unix_sock, sk);
	struct unix_sock *peer = typed(unix_sock, READ(own, peer));
	__u32 added = attach_unix_name(scratch, at, READ(own, addr), ATTACHMENT_PATH);

	if (peer)
		added += attach_unix_name(scratch, at + added, READ(peer, addr), ATTACHMENT_PATH2);
	return added;
}

/* The object at the other end of a unix socket; one that was not seen yet gets its id here, in advance. */
static __always_inline __u32 peer_object(struct scratch *scratch, struct sock *sk)
{
	struct unix_sock *own = typed(unix_sock, sk);
	struct sock *peer = READ(own, peer);
	struct object_state *known, *fresh = &scratch->new_object;
	struct object_key *key = &scratch->object_key;
	struct socket *socket;
	struct inode *inode;

	if (!peer)
		return 0;
	socket = READ(typed(sock, peer), sk_socket);
	if (!socket)
		return 0;
	inode = typed(inode, (void *)socket + (bpf_core_field_offset(struct socket_alloc, vfs_inode) -
					       bpf_core_field_offset(struct socket_alloc, socket)));
	key->ino = READ(inode, i_ino);
	key->device = READ(inode, i_sb, s_dev);
	key->generation = READ(inode, i_generation);
	known = bpf_map_lookup_elem(&objects, key);
	if (known)
		return known->object_id;
	__builtin_memset(fresh, 0, sizeof(*fresh));
	fresh->object_id = new_id(&scratch->next_object);
	fresh->linked = 1;
	fresh->promised = 1;
	bpf_map_update_elem(&objects, key, fresh, BPF_ANY);
	return fresh->object_id;
}

static __always_inline void fill_addresses(struct socket_fact *fact, struct sock *sk)
{
	struct sock_common *common = &sk->__sk_common;

	fact->local_port = local_port(sk);
	fact->remote_port = __builtin_bswap16(READ(common, skc_dport));
	if (fact->family == AF_INET) {
		*(__u32 *)fact->local_address = READ(common, skc_rcv_saddr);
		*(__u32 *)fact->remote_address = READ(common, skc_daddr);
	} else {
		bpf_core_read(fact->local_address, 16, &common->skc_v6_rcv_saddr);
		bpf_core_read(fact->remote_address, 16, &common->skc_v6_daddr);
	}
}

static __always_inline bool announce_socket(struct scratch *scratch, struct handle_state *handle, struct socket *socket,
					    struct sock *sk)
{
	struct socket_fact *fact = &scratch->fact.socket;
	__u32 size = sizeof(*fact);

	__builtin_memset(fact, 0, sizeof(*fact));
	fact->header.type = RECORD_SOCKET;
	fact->valid_from_ns = bpf_ktime_get_boot_ns();
	fact->handle_id = handle->name.handle_id;
	fact->object_id = handle->object_id;
	fact->cookie = READ(sk, __sk_common.skc_cookie.counter);
	fact->network_namespace = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
	fact->family = READ(sk, __sk_common.skc_family);
	fact->socket_type = READ(socket, type);
	fact->protocol = READ(sk, sk_protocol);
	fact->state = READ(sk, __sk_common.skc_state);
	fact->connection_id = handle->connection_id;
	if (fact->family == AF_UNIX) {
		size += fill_unix_names(scratch, size, sk);
		fact->peer_object_id = peer_object(scratch, sk);
	} else if (fact->family == AF_INET || fact->family == AF_INET6) {
		fill_addresses(fact, sk);
	}
	mark_unseen_group(unseen_group_of_family(fact->family));
	if (filter_loaded)
		tell_filter_of_socket(scratch, fact);
	fact->attachments = size - sizeof(*fact);
	return emit(STREAM_FACTS, &fact->header, size);
}

/* Keeps the socket of a handle that was announced: retransmit.bpf.c looks for it. */
static __always_inline void remember_stream(struct scratch *scratch, const struct handle_state *handle, struct sock *sk)
{
	struct tcp_stream *stream = &scratch->new_stream, *known;

	if (!watch_retransmissions || !is_tcp(sk))
		return;
	scratch->stream_key = number_of(scratch, sk);
	known = bpf_map_lookup_elem(&tcp_streams, &scratch->stream_key);
	if (known && known->ino == handle->name.ino) { /* not replaced: an interrupt may be counting in it */
		known->ends = handle->name.ends;
		known->handle_id = handle->name.handle_id;
		return;
	}
	stream->ino = handle->name.ino;
	stream->ends = handle->name.ends;
	stream->handle_id = handle->name.handle_id;
	stream->sent_again = READ(typed(tcp_sock, sk), total_retrans);
	bpf_map_update_elem(&tcp_streams, &scratch->stream_key, stream, BPF_ANY);
}
