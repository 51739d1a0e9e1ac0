/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What belongs to an event and is written after it, in the same ring: the objects that it touched, and its messages or
 * control blocks. The programs that do so run in place of sys_exit's end (`followers` in syscall.bpf.c); the event is still in scratch.
 */
#pragma once

#include "kernel/content/anchor.h"
#include "kernel/helpers/call.h"
#include "kernel/content/dye.h"
#include "schema/shared/found.h"

/* Writes the event in scratch, and after it what was found in its bytes; false if it was lost. */
static __always_inline bool write_with_finds(struct scratch *scratch)
{
	__u32 attachments = scratch->event.attachments;
	bool written = attachments <= sizeof(scratch->event_attachments) &&
		       emit(STREAM_EVENTS, &scratch->event.header, sizeof(scratch->event) + attachments);

	if (look_for_dyes)
		write_dye_hits(scratch->event.header.sequence, written);
	if (content_level >= CONTENT_LEVEL_ANCHORS)
		write_anchors(scratch->event.header.sequence, written);
	return written;
}

#define TOUCHED_MAX                                                                                                              \
	(TURNS_MAX < 1024                                                                                                        \
		 ? TURNS_MAX                                                                                                     \
		 : 1024) /* objects or control blocks per event; what comes after is one row with the range that it covers */
#define TOUCHED_IDLE_MAX 64 /* of a poll set: more are listed only if they are ready */

/* The part that is being built; not in scratch, whose room is scarce. */
struct part_buffer {
	struct part_event part;
	__u8 attachments[8 + ADDRESS_BYTES_MAX + 8 + sizeof(struct content_found) + 8 + sizeof(struct dyes_found) + 8 +
			 sizeof(struct dye_edges)];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct part_buffer);
} part_buffers SEC(".maps");

static __always_inline struct part_buffer *cpu_part(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&part_buffers, &zero);
}

/* Where its next attachment goes; NULL when there is no room for one of so many bytes. */
static __always_inline struct attachment_header *part_attachment_space(struct part_buffer *buffer, __u32 bytes)
{
	__u32 at = buffer->part.attachments;

	opaque(at);
	if (at > sizeof(buffer->attachments) - sizeof(struct attachment_header) - bytes)
		return NULL;
	return (void *)buffer->attachments + at;
}

/* Writes the object in scratch, once it is filled in. In programs/special.bpf.c. */
int write_touched(scratch_ref ref);

static __always_inline struct event_object_fact *begin_touch(struct scratch *scratch, __u8 role, __s32 fd, __s64 begin, __s64 end)
{
	struct event_object_fact *fact = &scratch->touched;

	__builtin_memset(fact, 0, sizeof(*fact));
	fact->header.type = RECORD_EVENT_OBJECT;
	fact->header.flags = RECORD_MAY_BE_SKIPPED;
	fact->parent_sequence = scratch->event.header.sequence;
	fact->range_begin = begin;
	fact->range_end = end;
	fact->fd = fd;
	fact->role = role;
	return fact;
}

static __always_inline void touch(struct scratch *scratch, __u8 role, __s32 fd, __u32 handle_id, __u32 events)
{
	struct event_object_fact *fact = begin_touch(scratch, role, fd, -1, -1);

	fact->handle_id = handle_id;
	fact->events = events;
	write_touched(ref_of(scratch));
}

/* A descriptor of the current task. */
static __always_inline void touch_descriptor(struct scratch *scratch, __u8 role, __s32 fd, __u32 events)
{
	see_file(scratch, file_of(current_task(), fd), 0);
	touch(scratch, role, fd, scratch->seen.handle_id, events);
}

/* Members of a set, or descriptors, that are not listed one by one. */
static __always_inline void touch_rest(struct scratch *scratch, __u8 role, __s64 begin, __s64 end)
{
	begin_touch(scratch, role, -1, begin, end);
	write_touched(ref_of(scratch));
}

/* Steps over the members that a call hands out, or control blocks. */
#define walk_members(scratch, body, count, role)                                                                                 \
	({                                                                                                                       \
		__u64 _all = count;                                                                                              \
                                                                                                                                 \
		each_turn(_all < TOUCHED_MAX ? _all : TOUCHED_MAX, body);                                                        \
		if (_all > TOUCHED_MAX)                                                                                          \
			touch_rest(scratch, role, TOUCHED_MAX, _all);                                                            \
	})

/* Writes after the message in scratch the descriptors that travel in it. In messages.bpf.c. */
int write_passed(scratch_ref ref);

static __always_inline struct part_event *begin_part(struct scratch *scratch, __u32 index)
{
	const struct syscall_event *event = &scratch->event;
	struct part_buffer *buffer = cpu_part();
	struct part_event *part;

	if (!buffer)
		return NULL;
	part = &buffer->part;
	__builtin_memset(part, 0, sizeof(*part));
	part->header.type = RECORD_PART_EVENT;
	part->parent_sequence = event->header.sequence;
	part->start_ns = event->start_ns;
	part->duration_ns = event->duration_ns;
	part->present = event->present & SYSCALL_HAS_DURATION ? PART_HAS_DURATION : 0;
	part->context_id = event->context_id;
	part->abi = event->abi;
	part->part = index;
	return part;
}

static __always_inline void end_part(struct part_event *part)
{
	bool written = emit_child(&part->header, sizeof(*part) + part->attachments);

	if (look_for_dyes)
		write_dye_hits(part->header.sequence, written);
	if (content_level >= CONTENT_LEVEL_ANCHORS)
		write_anchors(part->header.sequence, written);
}
