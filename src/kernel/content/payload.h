/* SPDX-License-Identifier: GPL-2.0 */
/*
 * With --content=bytes: what was copied to look at it goes on to src/capture, through a ring per CPU as those of emit.h. Its
 * accounting is in bytes: generated = delivered + lost. What does not fit is lost, and no call waits for it.
 */
#pragma once

#include "kernel/helpers/emit.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* src/capture: 1 per CPU */
	__type(key, __u32);
	__type(value, struct ring_control);
} payload_controls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* src/capture: 1 per CPU; value: ring and slack */
	__uint(key_size, 4);
	__uint(value_size, PAYLOAD_SLACK_BYTES);
} payload_rings SEC(".maps");

/* `length` bytes at `from`, which are those at `position` of what the call moved whose event is written next on this CPU. */
static __always_inline void emit_payload(const void *from, __u32 length, __u64 position)
{
	struct ring_control *events = ring_control(STREAM_EVENTS), *control;
	__u32 cpu = bpf_get_smp_processor_id(), size;
	struct payload_piece *piece;
	__u8 *ring;

	control = bpf_map_lookup_elem(&payload_controls, &cpu);
	ring = bpf_map_lookup_elem(&payload_rings, &cpu);
	if (!events || !control || !ring || position >= payload_bytes_max)
		return;
	if (length > payload_bytes_max - position)
		length = payload_bytes_max - position;
	opaque(length);
	if (length > PAYLOAD_PIECE_BYTES_MAX)
		return;
	control->generated += length;
	control->sequence++;
	size = sizeof(*piece) + padded(length);
	if (control->head - *(volatile __u64 *)&control->tail + size > payload_ring_bytes) {
		control->lost += length;
		return;
	}
	ring += control->head & (payload_ring_bytes - 1);
	piece = (struct payload_piece *)ring;
	piece->size = size;
	piece->reserved = 0;
	piece->reserved2 = 0;
	piece->sequence = control->sequence - 1;
	piece->event_sequence = events->sequence;
	piece->position = position;
	piece->length = length;
	piece->reserved3 = 0;
	if (bpf_probe_read_kernel(piece + 1, length, from)) {
		control->lost += length;
		return;
	}
	move_head(control, size);
	control->delivered += length;
	wake_reader_if_due(control);
}
