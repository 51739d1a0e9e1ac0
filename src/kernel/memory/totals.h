/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counting instead of recording: calls, errors, bytes and a histogram of durations per process, call and class, added up
 * where they happen. An event that is counted is `aggregated` in the accounting and is not written.
 *
 *   bucket 4 * octave + quarter: [2^octave * (1 + quarter / 4), … ) ns, so a percentile is off by at most an eighth
 */
#pragma once

#include "kernel/kernel_types.h"
#include "kernel/abi.h"
#include "schema/generated/records.bpf.h"
#include "schema/generated/would_wait.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536); /* what does not fit is counted as lost */
	__type(key, struct total_key);
	__type(value, struct total);
} totals SEC(".maps");

/* A new entry begins with zeros, which are too many for the stack; never written. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct total);
} blank_total SEC(".maps");

static __always_inline __u32 bucket_of(__u64 ns)
{
	__u32 octave = 0;
	__u64 value = ns;

	if (value < 4)
		return value;
#pragma unroll
	for (int shift = 32; shift; shift >>= 1) {
		if (value >> shift) {
			octave += shift;
			value >>= shift;
		}
	}
	octave = octave * 4 + (ns >> (octave - 2) & 3);
	return octave < TOTAL_BUCKETS ? octave : TOTAL_BUCKETS - 1;
}

/* False if there is no room for another key. */
static __always_inline bool add_to_totals(const struct syscall_event *event, __u32 pid)
{
	struct total_key key = { .pid = pid, .syscall = event->syscall, .abi = event->abi, .event_class = event->event_class };
	struct total *total = bpf_map_lookup_elem(&totals, &key);
	__u32 bucket = bucket_of(event->duration_ns);

	if (!total) {
		__u32 zero = 0;
		struct total *blank = bpf_map_lookup_elem(&blank_total, &zero);

		if (!blank)
			return false;
		bpf_map_update_elem(&totals, &key, blank, BPF_NOEXIST);
		total = bpf_map_lookup_elem(&totals, &key);
		if (!total)
			return false;
	}
	total->calls++;
	if (would_wait(event->result, event->event_class))
		total->would_wait++;
	else if (is_failure(event->result, event->event_class))
		total->errors++;
	total->bytes += event->present & SYSCALL_HAS_BYTES ? event->bytes : 0;
	total->duration_ns += event->duration_ns;
	total->off_cpu_ns += event->off_cpu_ns;
	if (event->duration_ns > total->duration_max_ns)
		total->duration_max_ns = event->duration_ns;
	if (bucket < TOTAL_BUCKETS)
		total->histogram[bucket]++;
	return true;
}
