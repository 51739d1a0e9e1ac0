/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rings. One per CPU and stream, written by its CPU alone, read by src/capture through a mapping.
 *
 *   0            tail              head          ring_bytes    + RECORD_BYTES_MAX
 *   |............|== records ======|.............|~~~ slack ~~~|
 *
 * head and tail only grow; a record begins at head % ring_bytes and may run into the slack, so it is never split.
 * The reader looks often enough, and is woken by what it cannot foresee only, a burst after quiet: a wake-up across CPUs costs more than
 * an event. Before it sleeps it says where in the ring that is due.
 */
#pragma once

#include "kernel/memory/settings.h"
#include "schema/generated/records.bpf.h"

#define RECORD_MAY_BE_SKIPPED 1 /* header.flags: by a reader that does not know the type */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, STREAMS); /* src/capture: 3 per CPU, by cpu * 3 + stream */
	__type(key, __u32);
	__type(value, struct ring_control);
} ring_controls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* src/capture: 1 per CPU; value: ring and slack */
	__uint(key_size, 4);
	__uint(value_size, RECORD_BYTES_MAX);
} event_rings SEC(".maps"), fact_rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* src/capture: 1 per CPU */
	__uint(key_size, 4);
	__uint(value_size, INTERRUPT_RING_BYTES + RECORD_BYTES_MAX);
} interrupt_rings SEC(".maps");

#define WAKEUPS_BYTES 4096 /* libbpf makes it a page, where that is larger */

/* What the reader sleeps on; its records say nothing. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, WAKEUPS_BYTES);
} wakeups SEC(".maps");

static __always_inline struct ring_control *ring_control(enum stream stream)
{
	__u32 index = bpf_get_smp_processor_id() * STREAMS + stream;

	return bpf_map_lookup_elem(&ring_controls, &index);
}

static __always_inline __u64 ring_bytes_of(enum stream stream)
{
	if (stream == STREAM_INTERRUPTS)
		return INTERRUPT_RING_BYTES;
	return stream == STREAM_EVENTS ? event_ring_bytes : fact_ring_bytes;
}

static __always_inline __u8 *ring_of(enum stream stream, __u32 cpu)
{
	if (stream == STREAM_INTERRUPTS)
		return bpf_map_lookup_elem(&interrupt_rings, &cpu);
	return stream == STREAM_EVENTS ? bpf_map_lookup_elem(&event_rings, &cpu) : bpf_map_lookup_elem(&fact_rings, &cpu);
}

static __always_inline void count_loss(struct ring_control *control)
{
	__u64 now = bpf_ktime_get_boot_ns();

	if (!control->first_lost_ns)
		control->first_lost_ns = now;
	control->last_lost_ns = now;
	control->lost++;
}

/* Lets the reader see what was copied at head. */
static __always_inline void move_head(struct ring_control *control, __u32 size)
{
	if (strong_order) {
		barrier();
		*(volatile __u64 *)&control->head += size;
	} else {
		__sync_fetch_and_add(&control->head, size);
	}
}

static __always_inline void wake_reader_if_due(struct ring_control *control)
{
	__u64 wake_at = *(volatile __u64 *)&control->wake_at;
	void *nothing;

	if (control->head < wake_at || control->woken_at == wake_at)
		return;
	control->woken_at = wake_at;
	nothing = bpf_ringbuf_reserve(&wakeups, sizeof(__u64), 0);
	if (nothing)
		bpf_ringbuf_discard(nothing, BPF_RB_FORCE_WAKEUP);
}

/*
 * Copies a record into the ring of this CPU; its header's size, type and flags are set. False if the ring was full: the
 * record is counted as lost, and its sequence number with it.
 */
static __always_inline bool emit(enum stream stream, struct record_header *record, __u32 size)
{
	struct ring_control *control = ring_control(stream);
	__u64 ring_bytes = ring_bytes_of(stream);
	__u32 cpu = bpf_get_smp_processor_id();
	__u8 *ring;
	__u64 head;

	if (!control)
		return false;
	size = (size + 7) & ~7u;
	record->size = size;
	record->sequence = control->sequence++;
	head = control->head;
	ring = ring_of(stream, cpu);
	if (!ring || size > RECORD_BYTES_MAX || head - *(volatile __u64 *)&control->tail + size > ring_bytes) {
		count_loss(control);
		return false;
	}
	ring += head & (ring_bytes - 1);
	if (stream == STREAM_EVENTS && size == sizeof(struct syscall_event)) /* most are: no call of a helper */
		*(struct syscall_event *)ring = *(struct syscall_event *)record;
	else
		bpf_probe_read_kernel(ring, size, record);
	move_head(control, size);
	control->delivered++;
	if (stream != STREAM_INTERRUPTS)
		wake_reader_if_due(control);
	return true;
}

/* Writes what belongs to an event after it, in the same ring; counted like an event of its own. */
static __always_inline bool emit_child(struct record_header *record, __u32 size)
{
	struct ring_control *control = ring_control(STREAM_EVENTS);

	if (!control)
		return false;
	control->generated++;
	return emit(STREAM_EVENTS, record, size);
}

/* Bytes that an attachment of `length` takes up after its header. */
static __always_inline __u32 padded(__u32 length)
{
	return (length + 7) & ~7u;
}

/* Completes the header of an attachment that is filled in; returns the bytes that both take. */
static __always_inline __u32 finish_header(struct attachment_header *header, __u16 kind, __u32 length)
{
	header->kind = kind;
	header->length = length;
	header->reserved = 0;
	return sizeof(*header) + padded(length);
}
