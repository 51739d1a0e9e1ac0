/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is remembered of names and objects, so that each is announced once.
 *
 *   file ──► recent_names ──► handles (dentry, mount) ──► handle_id         announced in the facts ring
 *                                └──► objects (device, inode, generation) ──► object_id
 *   TCP: struct sock ──► tcp_streams ──► handle_id         for what is sent in interrupts, which know no file
 *
 * Limits: 65,536 of each; one that was forgotten is announced again.
 */
#pragma once

#include "kernel/kernel_types.h"
#include "kernel/abi.h"
#include "schema/shared/filter_input.h"

/* Counts up whenever a name may have changed: rename, mount, umount, pivot_root. */
__u64 name_epoch;

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
	__u32 special_device;
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

/* A TCP socket that was announced: one that is not in there is nobody's who is recorded. */
struct tcp_stream {
	__u64 ino; /* of the socket */
	__u64 ends; /* digest, for when its file is closed and only sk is left */
	__u32 handle_id;
	__u32 sent_again; /* segments, as the kernel counts them: up to the last that was recorded */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, struct tcp_stream);
} tcp_streams SEC(".maps");
