/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs share with each other and with src/capture: settings, rings, books, memory per task and per name.
 *
 *   task ──► tasks (task storage) ──► context_id         announced in the facts ring
 *   file ──► handles (dentry, mount) ──► handle_id       announced in the facts ring
 *   event ──► scratch ──► ring of the CPU ──► src/capture
 *
 * Every program here runs with preemption off, so that a CPU's scratch, books and rings have one user at a time.
 */
#pragma once

#include "schema/generated/records.bpf.h"
#include "schema/generated/syscalls.bpf.h"

#include "kernel/kernel_types.h"
#include "kernel/match.h"

#define PATH_BYTES_MAX 4096 /* PATH_MAX */
#define SHORT_NAME_BYTES_MAX 256 /* XATTR_NAME_MAX and NUL; behind two paths */
#define NAME_BYTES_MAX 256 /* NAME_MAX + 1 */
#define ADDRESS_BYTES_MAX 128 /* sizeof(struct sockaddr_storage) */
#define COMMAND_BYTES_MAX 1024 /* of a command line */
#define CGROUP_BYTES_MAX 1024 /* of a cgroup's path; a longer one is left out */
#define FACT_FIELDS_MAX 512 /* a fact without its attachments */
#define PID_NAMESPACES_MAX 32 /* one in another: MAX_PID_NS_LEVEL */
#define CLOSED_MAX 64 /* descriptors that a close_range names one by one */
#define SELECT_WORDS 16 /* FD_SETSIZE bits */
#define RECORD_BYTES_MAX 16384 /* event, two paths, names and an address; also the slack behind a ring's end */

/* Settings, written by src/capture before the programs are loaded. */
const volatile __u32 cpu_count;
const volatile __u64 event_ring_bytes; /* power of two */
const volatile __u64 fact_ring_bytes; /* power of two */
const volatile bool watch_all; /* every task, else only the marked ones and their children */
const volatile bool strong_order; /* x86: stores are seen in order */
const volatile bool filter_loaded; /* a predicate decides, see filter.h */
const volatile bool follow_children; /* and threads */
const volatile bool find_by_vpid; /* the kernel has bpf_task_from_vpid */
const volatile bool find_by_pid; /* the kernel has bpf_task_from_pid */
const volatile bool read_other_tasks; /* finish_calls may sleep, and so read memory of other tasks */
const volatile __u32 preview_bytes; /* of each buffer, and structures too; 0: none */
const volatile bool count_only; /* add up in `totals` instead of writing events */

/* What the registers of each call mean, by its number. */
const volatile struct syscall_shape syscall_shapes[SYSCALL_TABLE_SIZE] = { SYSCALL_SHAPES_X86_64 };
const volatile struct syscall_shape syscall_shapes_i386[SYSCALL_TABLE_SIZE] = { SYSCALL_SHAPES_I386 };

#define CARRIED_MAX 32 /* socketcall's first argument; power of two */
const volatile struct carried_call carried_calls[CARRIED_MAX] = { CARRIED_CALLS };

/* Counts up whenever a name may have changed: rename, mount, umount, pivot_root. */
__u64 name_epoch;

bool ending; /* set before anything is detached: a call whose entry is not seen from now on is no part of the recording */

__u32 filter_atom_count; /* string conditions of the predicate */

enum task_flags {
	TASK_WATCHED = 1, /* its calls are recorded */
	TASK_EXCLUDED = 2, /* the recorder's own */
	TASK_CHILD_RETURN = 4, /* its first exit is the return of its parent's clone, not a call of its own */
	TASK_EXECED = 8, /* the program changed since the last context */
	TASK_IN_CALL = 16, /* between entry and exit */
	TASK_JUDGED = 32, /* the predicate was asked about its present context */
	TASK_DROPPED = 64, /* and selects none of its calls */
	TASK_CALL_ADOPTED = 128, /* that call began before the recording: its entry was not seen */
	TASK_UNPACKED = 256, /* i386: that call's arguments were behind a pointer, see packed.h */
};

/* Memory of a thread. Written by its own CPU only, but for flags set when it is marked. */
struct task_state {
	__u64 entry_ns;
	__u64 switched_out_ns; /* 0 while it runs */
	__u64 off_cpu_ns; /* of the present call */
	__u64 entry_file; /* struct file acted on, as the entry saw it */
	__s64 entry_position; /* its position then; of one that is appended to, its size */
	__u64 stream_sk; /* TCP: the socket that this call acts on, 0: not seen yet; where its bytes begin (sent) or end (read) */
	__u64 stream_at;
	__u32 flags; /* enum task_flags */
	__u32 syscall; /* number and abi << 16 of the present call */
	__u32 handle_id; /* close: the object, which exit can't know */
	__u32 open_flags;
	__u32 target_tid; /* clone: the child */
	__u32 context_id; /* 0: none yet */
	__u64 target_start_ns;
	/* what context_id was announced with */
	__u64 comm[2];
	__u64 cred, nsproxy, cgroups, parent;
	__u64 arguments[6]; /* of execve and of i386, where exit may no longer find them */
	__u32 context_announced;
	__u32 entry_type; /* close: enum object_type */
	struct filter_object closed; /* close: what the filter is told */
	struct filter_task filter;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} tasks SEC(".maps");

/* A name by which an object is reached: a dentry, seen through a mount. */
struct handle_key {
	__u64 dentry;
	__u64 mount;
};

/* What a look at a name gives, and what has to be unchanged for it to hold. */
struct name_state {
	__u64 inode; /* address */
	__u64 parent; /* address of the parent dentry */
	__u64 name_hash; /* dentry's d_name.hash_len */
	__u64 epoch; /* name_epoch when the path was last read */
	__u64 path_hash; /* of the path's text */
	__u64 ends; /* sockets: digest of addresses and state */
	__u64 ino;
	__u32 generation;
	__u32 handle_id;
	__u8 object_type;
	__u8 announced;
	__u8 linked; /* the inode had a name */
	__u8 path_flags; /* enum path_flag */
	__u32 reserved;
};

struct handle_state {
	struct name_state name;
	__u64 connection_id;
	__u32 device;
	__u32 object_id;
	__u32 mode;
	__u32 reserved;
	struct filter_object filter;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct handle_key);
	__type(value, struct handle_state);
} handles SEC(".maps");

/*
 * The names that a CPU saw last, each at one place: an array's element costs a tenth of a look-up in `handles`. What is
 * here holds while the place's count in name_changes is what it was.
 */
#define RECENT_NAMES 1024 /* per CPU; power of two */
struct recent_name {
	struct handle_key key;
	__u64 changes;
	struct name_state name;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* src/capture: RECENT_NAMES per CPU */
	__type(key, __u32);
	__type(value, struct recent_name);
} recent_names SEC(".maps");

__u64 name_changes[RECENT_NAMES];

/* What identifies an object while its inode lives. */
struct object_key {
	__u64 ino;
	__u32 device;
	__u32 generation;
};

struct object_state {
	__u64 serial; /* when this life began; 0: before it was first seen, or told apart by generation */
	__u32 object_id;
	__u32 linked; /* it had a name: one without is dead and its number may come again */
	__u32 dead;
	__u32 promised; /* got its id as the peer of another, before it was seen itself */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct object_key);
	__type(value, struct object_state);
} objects SEC(".maps");

/* execve: the path that the call was given, which is gone at exit. Taken out again at exit. */
struct exec_path {
	__u32 length; /* without the final 0 */
	__u32 reserved;
	__u8 text[PATH_BYTES_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 256);
	__type(key, __u64); /* address of the task */
	__type(value, struct exec_path);
} exec_paths SEC(".maps");

/* Processes that ended and were not waited for yet: at wait's exit they are gone. */
struct ended_key {
	__u64 namespace; /* address of the parent's pid namespace */
	__u32 pid; /* in it */
	__u32 reserved;
};

struct ended_state {
	__u64 start_ns;
	__u32 pid; /* in the host's namespace */
	__u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct ended_key);
	__type(value, struct ended_state);
} ended SEC(".maps");

/* What calls that act on many objects need between entry and exit: what close_range will close, what select was asked. */
struct closed_set {
	__u32 count;
	__s32 next; /* first one that is not listed, -1 if all are */
	struct {
		__s32 fd;
		__u32 handle_id;
	} files[CLOSED_MAX];
};

struct select_set {
	__u64 bits[3][SELECT_WORDS]; /* read, write, exceptions */
};

union entry_set {
	struct closed_set closed;
	struct select_set selected;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64); /* address of the task */
	__type(value, union entry_set);
} entry_sets SEC(".maps");

/* `dyetrace trace`: what the call is going to write over, see preview.h. */
#define ENTRY_VALUE_BYTES_MAX 128 /* SELECT_WORDS */
struct entry_values {
	__u32 length[6]; /* by argument; 0: nothing */
	__u8 bytes[6][ENTRY_VALUE_BYTES_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64); /* address of the task */
	__type(value, struct entry_values);
} entry_values SEC(".maps");

/* What an epoll descriptor was told to wait for, by the word that it hands back. */
struct interest_key {
	__u64 eventpoll; /* address */
	__u64 data;
};

struct interest {
	__u64 file; /* address */
	__s32 fd;
	__u32 handle_id;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct interest_key);
	__type(value, struct interest);
} interests SEC(".maps");

/* AIO: what was submitted, by its control block. */
struct submission_key {
	__u64 mm; /* address */
	__u64 control_block;
};

struct submission {
	__u64 start_ns;
	__u64 requested;
	__s64 file_offset;
	__u32 handle_id;
	__u32 open_flags;
	__s32 fd;
	__u16 operation;
	__u8 event_class;
	__u8 has_offset : 1, moves : 1;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct submission_key);
	__type(value, struct submission);
} submissions SEC(".maps");

/*
 * Programs that do what only some calls need, by enum syscall_special; filled by src/capture. They run in place of the end of
 * sys_enter (preparers) and of sys_exit (followers), so that these stay small.
 */
#define SPECIALS_MAX 64
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, SPECIALS_MAX);
	__type(key, __u32);
	__type(value, __u32);
} preparers SEC(".maps"), followers SEC(".maps");

/* String conditions of the predicate; filled by src/capture. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FILTER_ATOMS_MAX);
	__type(key, __u32);
	__type(value, struct filter_atom);
} filter_atoms SEC(".maps");

/* The programs that an event passes through when there is a predicate; filled by src/capture. */
enum program_index { PROGRAM_SYS_EXIT, PROGRAM_TASK_FILTER, PROGRAM_DROP_TASK, PROGRAM_FILTER, PROGRAM_WRITE };

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, __u32);
} programs SEC(".maps");

/* A ring's ends and a CPU's books; mapped into src/capture, which writes tail only. */
struct ring_control {
	__u64 head; /* bytes ever written */
	__u64 head_line[7];
	__u64 tail; /* bytes ever read */
	__u64 tail_line[7];
	__u64 sequence; /* records, lost ones too */
	__u64 generated, filtered, aggregated, delivered, lost;
	__u64 first_lost_ns, last_lost_ns; /* of the present run of losses; first is 0 when there is none */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 2); /* src/capture: 2 per CPU, by cpu * 2 + stream */
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

/* Where a CPU builds what it is about to write. */
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
	struct part_event part;
	__u8 part_attachments[8 + ADDRESS_BYTES_MAX];
	struct event_object_fact touched;
	struct entry_values entry_values;
	union {
		struct exec_path exec_path;
		union entry_set entry_set;
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
	/* what see_file() and see_directory() found */
	struct {
		__u64 inode, socket, sk, ends, magic; /* addresses; ends: digest */
		__s64 position, size;
		__u32 handle_id; /* 0: nothing */
		__u32 open_flags;
		__u32 mode;
		__u32 object_type;
		struct handle_key key;
		__u32 place; /* in recent_names and name_changes */
		bool announced;
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
	struct filter_input input;
	__u8 text[MATCH_TEXT_BYTES]; /* to be matched */
	struct match_position match;
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

static __always_inline struct scratch *cpu_scratch(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&scratches, &zero);
}

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
