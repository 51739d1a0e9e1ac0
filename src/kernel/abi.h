/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * What the BPF programs and src/capture must agree on, each once: sizes of maps and rings, what lies in mapped memory, numbers that
 * stand for programs. It never leaves the machine: what does is described by src/schema.
 *
 *   settings.h ◄── abi.h ──► src/capture             everything here is compiled into both
 *
 * For C++ it brings its own types; BPF programs include kernel_types.h first. What a condition is told and how an attachment begins
 * is shared with more folders than src/capture and stands in src/schema/shared; the algorithms of content stand in src/content.
 */
#pragma once

#ifdef __cplusplus
#include <linux/types.h>

#include <cstddef>
#endif
#include "content/dye_table.h"

// NOLINTBEGIN(readability-identifier-naming): BPF programs include this too; the names are the kernel's

#define PAGE_BYTES 4096
#define PREVIEW_BYTES_MAX 2048 /* of one argument that `dyetrace trace` shows */
#define RECENT_NAMES 1024 /* places per CPU in recent_names; power of two */

/*
 * Rings: one per CPU and stream. What interrupts bring has a ring of its own: they come in the middle of who writes to the others.
 *
 *   0            tail              head          ring_bytes    + RECORD_BYTES_MAX
 *   |............|== records ======|.............|~~~ slack ~~~|
 */
enum stream { STREAM_EVENTS, STREAM_FACTS, STREAM_INTERRUPTS, STREAMS };

#define RECORD_BYTES_MAX 16384 /* event, two paths, names and an address; also the slack at a ring's end */
#define INTERRUPT_RING_BYTES 65536 /* 1,170 retransmissions between two looks of the reader; power of two */

/* A ring's ends and what its CPU counts; the element cpu * STREAMS + stream of ring_controls. src/capture writes tail and wake_at only. */
struct ring_control {
	__u64 head; /* bytes ever written */
	__u64 woken_at; /* the wake_at that the reader was woken for */
	__u64 head_line[6];
	__u64 tail; /* bytes ever read */
	__u64 wake_at; /* the reader wants to be woken, once, when head is there */
	__u64 tail_line[6];
	__u64 sequence; /* records, lost ones too */
	__u64 generated, filtered, aggregated, delivered, lost;
	__u64 first_lost_ns, last_lost_ns; /* of the present run of losses; first is 0 when there is none */
};

/*
 * Bytes that a call moved, as the kernel hands them out with --content=bytes: in pieces, before the event that they belong to,
 * through a ring of their own; on disk they look otherwise (docs/trace_format.md).
 *
 *   | struct payload_piece | bytes | padding to 8 |
 */
#define PAYLOAD_PIECE_BYTES_MAX 65536 /* with its header less than 66 KiB: the slack at a ring's end */
#define PAYLOAD_SLACK_BYTES (66 * 1024)

struct payload_piece {
	__u32 size; /* bytes, with this and padding */
	__u16 reserved;
	__u16 reserved2;
	__u64 sequence; /* of pieces, per CPU; lost ones too */
	__u64 event_sequence; /* of the event, on the same CPU */
	__u64 position; /* of the first byte in what the call moved */
	__u32 length; /* bytes */
	__u32 reserved3;
};

/* An entry of the kernel's cache of names, as an iterator tells of it, see lookup.h. */
struct directory_entry {
	__u64 pointed_to_at; /* address of the pointer to it: the bucket, or another entry */
	__u32 hash;
	__u32 reserved;
};

#define TASK_FLAGS_AT 64 /* byte of a task_state where its flags are */
#define TASK_CONTEXT_AT 84 /* and the id of its context: 32 bits, 0 while it has none */

/* What is known of a thread: task_state.flags. */
enum task_flags {
	TASK_WATCHED = 1, /* its calls are recorded */
	TASK_EXCLUDED = 2, /* the recorder's own */
	TASK_CHILD_RETURN =
		4, /* its next exit is the return of a call that is not its own: its parent's clone, the recorder's wait */
	TASK_EXECED = 8, /* the program changed since the last context */
	TASK_IN_CALL = 16, /* between entry and exit */
	TASK_JUDGED = 32, /* the predicate was asked about its present context */
	TASK_DROPPED = 64, /* and selects none of its calls */
	TASK_CALL_ADOPTED = 128, /* that call began before the recording: its entry was not seen */
	TASK_UNPACKED = 256, /* i386: that call's arguments were behind a pointer, see packed.h */
};

/* The programs that the exit of a call may go on in: indexes of `exit_programs`. */
enum program_index {
	PROGRAM_SYS_EXIT,
	PROGRAM_TASK_FILTER,
	PROGRAM_DROP_TASK,
	PROGRAM_FILTER,
	PROGRAM_WRITE,
	PROGRAM_WRITE_CONTENT,
	PROGRAM_FOLLOW,
	PROGRAM_COUNTED
};

/* That of its entry: of `entry_programs`, since the kernel lets no table have programs of two tracepoints. */
#define PROGRAM_PREPARE 0

/* Content. */
#define DEFERRED_MAX 64 /* calls at once whose bytes are read when they may be waited for, see deferred.h */
#define ANCHORS_LISTED_MAX 65536 /* of an event; elements per CPU in anchor_lists; power of two */
#define DYE_TABLES 2 /* src/capture builds one while the other is used */

/* The first and last bytes of an operation, see edges.h: these fields, then `first_bytes` and `last_bytes` bytes. */
#define EDGE_INBOUND 1
#define EDGE_WHOLE 2 /* the first bytes are all of them */
#define EDGE_PEEKED 4 /* the next call gets the same bytes */

struct dye_edges {
	__u16 first_bytes, last_bytes;
	__u32 flags;
	__u8 bytes[2 * DYE_BYTES_MAX];
};

/* What is counted in place of events, see totals.h. */
#define TOTAL_BUCKETS 160 /* 40 octaves: 18 minutes */

struct total_key {
	__u32 pid;
	__u16 syscall;
	__u8 abi;
	__u8 event_class;
};

struct total {
	__u64 calls, errors, would_wait; /* no error is counted twice: would_wait.bpf.h */
	__u64 bytes, duration_ns, off_cpu_ns, duration_max_ns;
	__u64 histogram[TOTAL_BUCKETS];
};

#ifdef __cplusplus
static_assert(sizeof(ring_control) == 192 && offsetof(ring_control, sequence) == 128);
static_assert(offsetof(ring_control, tail) == 64 && offsetof(ring_control, wake_at) == 72);
static_assert(sizeof(payload_piece) == 40 && offsetof(payload_piece, length) == 32);
static_assert(offsetof(dye_edges, bytes) == 8);
static_assert(sizeof(total_key) == 8);
static_assert(sizeof(total) == 8 * (7 + TOTAL_BUCKETS));
#endif

// NOLINTEND(readability-identifier-naming)
