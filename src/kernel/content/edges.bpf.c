/* SPDX-License-Identifier: GPL-2.0 */
/* The first and last bytes of a call, or part, out of the room that they went through. */
#include "kernel/helpers/children.h"
#include "kernel/content/edges.h"
#include "kernel/content/room.h"

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

/* Whether there are edges at all: then room for them is worth looking for. */
static __always_inline __u32 wanted_edge_bytes(const struct content_room *room)
{
	return keeps_neighbours() && room->total && !room->unread ? edge_bytes_of(room) : 0;
}

/* Of sendfile and its kin: whether the first object is the one that is read. */
static __always_inline bool is_inbound(const volatile struct syscall_shape *shape)
{
	return shape->flags & CALL_INBOUND || (shape->fd2 && shape->offset_pointer);
}

static __always_inline bool is_peeked(const struct syscall_event *event)
{
	const volatile struct syscall_shape *shape = shape_of(event->abi, event->syscall);

	return shape->message_flags && argument(event, shape->message_flags) & MSG_PEEK;
}

static __always_inline __u32 edges_length(const struct dye_edges *edges)
{
	return offsetof(struct dye_edges, bytes) + edges->first_bytes + edges->last_bytes;
}

__noinline int attach_edges(struct scratch *scratch)
{
	struct content_room *room = cpu_room();
	struct attachment_header *header;
	struct syscall_event *event;
	struct dye_edges *edges;
	__u32 edge_bytes;

	if (!scratch || !room)
		return 0;
	edge_bytes = wanted_edge_bytes(room);
	header = attachment_room(scratch, sizeof(struct dye_edges));
	if (!header || !edge_bytes)
		return 0;
	event = &scratch->event;
	edges = fill_edges(room, header, edge_bytes);
	if (is_inbound(shape_of(event->abi, event->syscall)))
		edges->flags |= EDGE_INBOUND;
	if (is_peeked(event))
		edges->flags |= EDGE_PEEKED;
	finish_attachment(scratch, header, ATTACHMENT_DYE_EDGES, edges_length(edges));
	return 0;
}

__noinline int attach_part_edges(struct scratch *scratch)
{
	struct content_room *room = cpu_room();
	struct part_room *part = cpu_part();
	struct attachment_header *header;
	struct dye_edges *edges;
	__u32 edge_bytes;

	if (!scratch || !room || !part)
		return 0;
	edge_bytes = wanted_edge_bytes(room);
	header = part_attachment_room(part, sizeof(struct dye_edges));
	if (!header || !edge_bytes)
		return 0;
	edges = fill_edges(room, header, edge_bytes);
	if (is_inbound(shape_of(part->part.abi, part->part.operation)))
		edges->flags |= EDGE_INBOUND;
	if (is_peeked(&scratch->event))
		edges->flags |= EDGE_PEEKED;
	part->part.attachments += finish_header(header, ATTACHMENT_DYE_EDGES, edges_length(edges));
	return 0;
}
