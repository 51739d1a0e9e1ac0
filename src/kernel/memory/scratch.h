/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a CPU builds what it is about to write. Every program here runs with preemption off (programs/begin_and_end.h) and, but for retransmit.bpf.c,
 * outside of interrupts, so that a CPU's scratch, accounting and rings have one user at a time.
 */
#pragma once

#include "kernel/loop.h"
#include "kernel/memory/identity.h"
#include "kernel/memory/kept.h"
#include "schema/shared/filter_match.h"
#include "kernel/memory/settings.h"
#include "kernel/memory/task_state.h"
#include "schema/generated/records.bpf.h"

#define LINKS_MAX 8 /* one in another; power of two */

/* A path on its way down, see lookup.h. Addresses as numbers. */
struct lookup {
	__u64 dentry, mount; /* reached so far */
	__u64 root_dentry, root_mount; /* of the task */
	__u64 text; /* what comes next */
	__u64 after[LINKS_MAX]; /* what comes after the text of each link */
	__u64 x, y; /* hash of the component so far */
	__u64 mounts,
		mounted; /* of the list of what is mounted somewhere on the mount that was reached: its head, and where it is looked at */
	__u32 length; /* of it */
	__u32 depth; /* links */
	bool follow; /* a link at the end */
	bool found;
	__u64 own_text[4]; /* of /proc/self: words that are padded with '/', the last one is 0 */
};

/* The messages of a call, one after the other. */
struct messages_walk {
	__u64 base;
	__u64 sent; /* bytes of those before the present one */
	__u64 stream_offset; /* of the first */
	__u32 count;
	__u16 operation;
	bool compat, has_stream;
	bool stays; /* each begins where the first does: MSG_PEEK without SO_PEEK_OFF */
	__u32 present; /* bits that all of them have */
	__u32 length; /* of the present one */
	__u64 vector, parts, control, control_bytes;
};

/* A list of strings that ends with NULL, as execve takes two. */
struct text_walk {
	__u64 list; /* address of the pointers */
	__u32 count;
	__u32 filled; /* bytes of strings so far */
	bool counts_only;
};

/* The parts of an iovec that are added up. */
struct vector_sum {
	__u64 base;
	__u64 bytes;
	bool compat;
};

/* Control data of a message, see messages.bpf.c. */
struct control_walk {
	__u64 next; /* header */
	__u64 end;
	__u64 fd; /* present one */
	__u64 fds_end;
	bool compat;
};

/* Control blocks, see aio.bpf.c. */
struct blocks_walk {
	__u64 base;
	__u64 mm;
	__u64 start_ns;
	bool compat;
};

/* Members of sets: of an epoll descriptor, and the descriptors of select and close_range. */
struct members_walk {
	__u64 base;
	__u64 eventpoll; /* address */
	__u32 first, last;
	__u32 idle; /* listed that are not ready */
};

struct scratch {
	struct syscall_event event;
	__u8 event_attachments[2 * (8 + PATH_BYTES_MAX) + 8 + SHORT_NAME_BYTES_MAX + 8 + ADDRESS_BYTES_MAX + 64];
	struct {
		union {
			struct handle_fact handle;
			struct socket_fact socket;
			struct task_context_fact context;
			struct thread_end_fact thread_end;
			__u8 bytes[RECORD_BYTES_MAX / 2]; /* with attachments */
		};
	} fact;
	struct event_object_fact touched;
	struct entry_values entry_values;
	/* the parts of a vector that are being kept; here, since the verifier would follow each sum of lengths on a stack */
	struct part_walk {
		__u64 vector;
		__u64 left; /* bytes that are moved by the parts from here on */
		__u64 filled; /* bytes kept so far */
	} parts;
	struct messages_walk messages; /* here for the same reason; so are those below */
	struct vector_sum vector;
	struct text_walk texts;
	struct control_walk control;
	struct blocks_walk blocks;
	struct members_walk members;
	struct select_set asked_set; /* of the select that is looked at */
	union {
		struct exec_path exec_path;
		union entry_set entry_set;
		struct address_rooms rooms;
	};
	/* a path is read from its end */
	__u8 path[PATH_BYTES_MAX + NAME_BYTES_MAX];
	struct {
		__u64 dentry, mount, mount_root;
		__u32 at; /* first byte of the path in `path` */
		__u32 flags; /* as handle.flags */
		__u64 hash; /* of the names' hashes */
		bool silent; /* only the hash is wanted */
	} walk;
	struct lookup lookup;
	/* what see_file() and see_directory() found */
	struct {
		__u64 inode, socket, sk, ends, magic; /* addresses; ends: digest */
		__s64 position, size;
		__u64 stream_offset; /* see find_stream_offset() */
		__u32 handle_id; /* 0: nothing */
		__u32 open_flags;
		__u32 mode;
		__u32 object_type;
		struct handle_key key;
		__u32 place; /* in recent_names and name_changes */
		bool announced;
		bool fresh; /* the call made it, see SEE_FRESH */
		__u64 serial; /* of its object */
		__u64 path_hash; /* 0: the root of the namespace */
		struct filter_object filter;
	} seen;
	/* the last root of a task that was its namespace's */
	struct {
		__u64 dentry, mount, epoch;
	} plain_root;
	struct handle_state new_handle;
	struct object_key object_key;
	struct object_state new_object;
	struct tcp_stream new_stream;
	__u64 stream_key;
	struct filter_input input;
	__u8 text[MATCH_TEXT_BYTES]; /* to be matched */
	struct match_position match;
	struct {
		__u32 length, subject, plain;
	} asked; /* of each atom about it */
	struct filter_verdicts verdicts; /* about it */
	__u64 number; /* see number_of() */
	__u32 next_context, next_handle, next_object;
	__u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

/* For programs that may be put aside, so that nobody else comes to the CPU's scratch meanwhile. */
extern void bpf_preempt_disable(void) __ksym __weak;
extern void bpf_preempt_enable(void) __ksym __weak;

static __always_inline struct scratch *cpu_scratch(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&scratches, &zero);
}

/*
 * What a function that is verified on its own is handed of the scratch. A kernel without casts takes no key of a map from memory that such a function
 * was handed, and before 5.12 it hands over numbers only: there the function looks for it itself.
 */
#ifdef WITHOUT_CASTS
typedef __u32 scratch_ref;
#define ref_of(scratch) 0
#define scratch_of(ref)                                                                                                          \
	({                                                                                                                       \
		opaque(ref);                                                                                                     \
		cpu_scratch();                                                                                                   \
	}) /* or the compiler, seeing that it is not used, has nobody set it */
#else
typedef struct scratch *scratch_ref;
#define ref_of(scratch) (scratch)
#define scratch_of(ref) (ref)
#endif

/* An address as a number, which functions that are verified on their own want: it loses its type on the way. */
static __always_inline __u64 number_of(struct scratch *scratch, const void *pointer)
{
	volatile __u64 *number = &scratch->number;

	*number = (__u64)pointer;
	return *number;
}

/* Ids are never 0 and never shared by two CPUs. */
static __always_inline __u32 new_id(__u32 *counter)
{
	return (*counter)++ * cpu_count + bpf_get_smp_processor_id() + 1;
}
