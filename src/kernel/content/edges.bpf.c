/* SPDX-License-Identifier: GPL-2.0 */
/* The first and last bytes of a call, or part, out of the buffer that they went through. */
#include "kernel/helpers/children.h"
#include "kernel/content/edges.h"
#include "kernel/content/buffer.h"

/* What of each end may belong to something that crosses it. */
static __always_inline __u32 edge_bytes_of(const struct content_buffer *buffer)
{
	const struct dye_table *table;

	if (!look_for_dyes)
		return ANCHOR_WINDOW - 1;
	table = dye_table_of(&buffer->dyes);
	return table ? table->edge_bytes : 0;
}

/* The last `length` bytes of the operation, which lie in the buffer. */
static __always_inline void copy_last(struct content_buffer *buffer, __u8 *to, __u32 length)
{
	__u32 from = buffer->filled + BEFORE_BYTES - length;

	opaque(length);
	opaque(from);
	if (length <= BEFORE_BYTES && from <= sizeof(buffer->before) + sizeof(buffer->bytes))
		bpf_probe_read_kernel(to, length, buffer->before + from);
}

/* Both ends of an operation that is longer than they are. */
static __always_inline void copy_edges(struct content_buffer *buffer, struct dye_edges *edges, __u32 edge_bytes)
{
	const __u8 *first = buffer->moved ? buffer->first : buffer->bytes;

	opaque(edge_bytes);
	if (edge_bytes > DYE_BYTES_MAX)
		return;
	edges->first_bytes = edge_bytes;
	edges->last_bytes = edge_bytes;
	bpf_probe_read_kernel(edges->bytes, edge_bytes, first);
	copy_last(buffer, edges->bytes + edge_bytes, edge_bytes);
}

/* They go after the attachment's header. */
static __always_inline struct dye_edges *fill_edges(struct content_buffer *buffer, struct attachment_header *header,
						    __u32 edge_bytes)
{
	struct dye_edges *edges = (struct dye_edges *)(header + 1);

	edges->flags = 0;
	if (buffer->total > 2 * edge_bytes) {
		copy_edges(buffer, edges, edge_bytes);
	} else {
		edges->flags = EDGE_WHOLE;
		edges->first_bytes = buffer->total;
		edges->last_bytes = 0;
		copy_last(buffer, edges->bytes, buffer->total);
	}
	return edges;
}

/* Whether there are edges at all: then room for them is worth looking for. */
static __always_inline __u32 wanted_edge_bytes(const struct content_buffer *buffer)
{
	return keeps_neighbours() && buffer->total && !buffer->unread ? edge_bytes_of(buffer) : 0;
}

/* Whether the first object is the one that is read, also where sendfile and its kin have two. */
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

__noinline int attach_edges(scratch_ref ref)
{
	struct scratch *scratch = scratch_of(ref);
	struct content_buffer *buffer = cpu_buffer();
	struct attachment_header *header;
	struct syscall_event *event;
	struct dye_edges *edges;
	__u32 edge_bytes;

	if (!scratch || !buffer)
		return 0;
	edge_bytes = wanted_edge_bytes(buffer);
	header = attachment_space(scratch, sizeof(struct dye_edges));
	if (!header || !edge_bytes)
		return 0;
	event = &scratch->event;
	edges = fill_edges(buffer, header, edge_bytes);
	if (is_inbound(shape_of(event->abi, event->syscall)))
		edges->flags |= EDGE_INBOUND;
	if (is_peeked(event))
		edges->flags |= EDGE_PEEKED;
	finish_attachment(scratch, header, ATTACHMENT_DYE_EDGES, edges_length(edges));
	return 0;
}

__noinline int attach_part_edges(scratch_ref ref)
{
	struct scratch *scratch = scratch_of(ref);
	struct content_buffer *buffer = cpu_buffer();
	struct part_buffer *part = cpu_part();
	struct attachment_header *header;
	struct dye_edges *edges;
	__u32 edge_bytes;

	if (!scratch || !buffer || !part)
		return 0;
	edge_bytes = wanted_edge_bytes(buffer);
	header = part_attachment_space(part, sizeof(struct dye_edges));
	if (!header || !edge_bytes)
		return 0;
	edges = fill_edges(buffer, header, edge_bytes);
	if (is_inbound(shape_of(part->part.abi, part->part.operation)))
		edges->flags |= EDGE_INBOUND;
	if (is_peeked(&scratch->event))
		edges->flags |= EDGE_PEEKED;
	part->part.attachments += finish_header(header, ATTACHMENT_DYE_EDGES, edges_length(edges));
	return 0;
}
