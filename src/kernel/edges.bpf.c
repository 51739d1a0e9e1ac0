/* SPDX-License-Identifier: GPL-2.0 */
/* The first and last bytes of a call, out of the room that it went through. */
#include "kernel/call.h"
#include "kernel/edges.h"
#include "kernel/room.h"

#define EDGE_INBOUND 1
#define EDGE_WHOLE 2 /* the first bytes are all of them */
#define EDGE_PEEKED 4 /* the next call gets the same bytes */

/* In front of the first and the last bytes of an operation. */
struct dye_edges {
	__u16 first_bytes, last_bytes;
	__u32 flags;
	__u8 bytes[2 * DYE_BYTES_MAX];
};

/* What of each end may belong to something that crosses it. */
static __always_inline __u32 edge_bytes_of(const struct content_room *room)
{
	const struct dye_table *table;

	if (!look_for_dyes)
		return ANCHOR_WINDOW - 1;
	table = dye_table_of(&room->dyes);
	return table ? table->edge_bytes : 0;
}

/* The last `length` bytes of the operation, which lie in the room. */
static __always_inline void copy_last(struct content_room *room, __u8 *to, __u32 length)
{
	__u32 from = room->filled + BEFORE_BYTES - length;

	opaque(length);
	opaque(from);
	if (length <= BEFORE_BYTES && from <= sizeof(room->before) + sizeof(room->bytes))
		bpf_probe_read_kernel(to, length, room->before + from);
}

/* Of an operation that is not whole. */
static __always_inline void copy_edges(struct content_room *room, struct dye_edges *edges, __u32 edge_bytes)
{
	const __u8 *first = room->moved ? room->first : room->bytes;

	opaque(edge_bytes);
	if (edge_bytes > DYE_BYTES_MAX)
		return;
	edges->first_bytes = edge_bytes;
	edges->last_bytes = edge_bytes;
	bpf_probe_read_kernel(edges->bytes, edge_bytes, first);
	copy_last(room, edges->bytes + edge_bytes, edge_bytes);
}

/* Behind the attachment's header. */
static __always_inline struct dye_edges *fill_edges(struct content_room *room, struct attachment_header *header, __u32 edge_bytes)
{
	struct dye_edges *edges = (struct dye_edges *)(header + 1);

	edges->flags = 0;
	if (room->total > 2 * edge_bytes) {
		copy_edges(room, edges, edge_bytes);
	} else {
		edges->flags = EDGE_WHOLE;
		edges->first_bytes = room->total;
		edges->last_bytes = 0;
		copy_last(room, edges->bytes, room->total);
	}
	return edges;
}

__noinline int attach_edges(struct scratch *scratch)
{
	struct content_room *room = cpu_room();
	const volatile struct syscall_shape *shape;
	struct attachment_header *header;
	struct syscall_event *event;
	struct dye_edges *edges;
	__u32 edge_bytes;

	if (!keeps_neighbours() || !scratch || !room)
		return 0;
	event = &scratch->event;
	shape = shape_of(event->abi, event->syscall);
	header = attachment_room(scratch, sizeof(struct dye_edges));
	edge_bytes = edge_bytes_of(room);
	if (!header || !edge_bytes || !room->total || room->unread || shape->fd2)
		return 0;
	edges = fill_edges(room, header, edge_bytes);
	if (shape->flags & CALL_INBOUND)
		edges->flags |= EDGE_INBOUND;
	if (shape->message_flags && argument(event, shape->message_flags) & MSG_PEEK)
		edges->flags |= EDGE_PEEKED;
	finish_attachment(scratch, header, ATTACHMENT_DYE_EDGES, 8 + edges->first_bytes + edges->last_bytes);
	return 0;
}
