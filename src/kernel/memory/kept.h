/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a call's entry keeps for its exit, where it is more than a task_state holds; by the task's address. Taken out again at
 * exit: what is left behind belonged to a thread that ended in the call.
 */
#pragma once

#include "kernel/memory/settings.h"

#define CLOSED_MAX 64 /* descriptors that a close_range names one by one */
#define SELECT_WORDS 16 /* FD_SETSIZE bits */

/* execve: the path that the call was given, which is gone at exit. */
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
	__u32 replaced; /* dup2, dup3: handle of what the new descriptor was before; 0: nothing */
	__u32 reserved;
	__u8 bytes[6][ENTRY_VALUE_BYTES_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64); /* address of the task */
	__type(value, struct entry_values);
} entry_values SEC(".maps");

/* recvmmsg: bytes of each message that may be filled with an address. Written at each entry, so that what is left behind misleads nobody. */
#define MESSAGES_MAX 1024 /* UIO_MAXIOV, which the kernel cuts vlen to */
struct address_rooms {
	__u8 bytes[MESSAGES_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 256);
	__type(key, __u64); /* address of the task */
	__type(value, struct address_rooms);
} address_rooms SEC(".maps");
