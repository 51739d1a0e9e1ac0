/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * What a condition is told in the kernel, beside the event itself. Shared by BPF C, which fills it, and by src/filter, whose
 * generated program reads it; hand-written, because it never leaves the machine.
 *
 *   per-CPU value   | struct syscall_event ... | struct filter_input ... |      both at offsets of one's choice
 *                            ▲ filled at exit          ▲ filled from the memory of the task and of the name
 *
 * Everything must be what the announcements say of the event's context_id, handle_id and handle2_id, or be left unknown: an
 * event that may be selected is passed on, and src/filter decides again, exactly, where it is drained.
 *
 * Text (paths, exe, comm) is matched once per announced name: each string condition of the predicate is an atom with a
 * number, and a name carries two words of verdicts.
 */
#pragma once

// NOLINTBEGIN(readability-identifier-naming): BPF programs include this too; the names are the kernel's

#ifdef __cplusplus
#include <linux/types.h>
#endif

enum {
    FILTER_ATOMS_MAX =
        64, /* bits of a word; further string conditions are decided where events are drained */
    FILTER_TOKENS_MAX = 252, /* of a pattern; makes an atom 512 bytes */
};

/* Which groups of fields hold something. */
enum filter_known {
    FILTER_KNOWS_TASK = 1,
    FILTER_KNOWS_OBJECT = 2,  /* of handle_id */
    FILTER_KNOWS_OBJECT2 = 4, /* object2_id, of handle2_id */
    FILTER_KNOWS_ADDRESS =
        8, /* address_family to address, of the event's attachment if it has one */
    FILTER_HAS_ADDRESS = 16, /* the event has an attachment of that kind */
    FILTER_HAS_PATH = 32,
    FILTER_HAS_PATH2 = 64,
};

/* Bit n is about atom n; is_true only where is_known. NULL (no name) is not known. */
struct filter_verdicts {
    __u64 is_true;
    __u64 is_known;
};

/* Who: kept with a task, made anew with each of its contexts. */
struct filter_task {
    __u64 thread_start_ns;
    __u64 process_start_ns;
    __u64 cgroup_id;
    __u32 pid;
    __u32 tid;
    __u32 ppid;
    __u32 pid_in_namespace;
    __u32 uid;
    __u32 network_namespace;
    __u8 comm[16];                /* NUL to its end */
    struct filter_verdicts atoms; /* exe and comm */
};

/* The ends of a socket; for no socket all is 0. */
struct filter_ends {
    __u64 connection_id; /* 0: not known yet, or none */
    __u16 family;        /* of the socket's own addresses */
    __u16 local_port;    /* host byte order, 0: none */
    __u16 remote_port;
    __u16 reserved;
    __u8 local_address[16]; /* IPv6, or IPv4 in the first 4 bytes */
    __u8 remote_address[16];
};

/* What: kept with a name, made anew when it is announced again. */
struct filter_object {
    __u32 object_id;   /* as in the handle: without the host */
    __u16 object_type; /* enum object_type */
    __u16 reserved;
    __u8 file_system[16]; /* NUL to its end */
    struct filter_ends ends;
    struct filter_verdicts atoms; /* its path */
};

struct filter_input {
    __u32 known; /* enum filter_known */
    __u32 cpu;
    __u32 object2_id;
    __u16 address_family; /* of the message's address */
    __u16 address_port;   /* host byte order */
    __u8 address[16];
    struct filter_verdicts object2_atoms; /* the path of handle2_id */
    struct filter_verdicts path_atoms;    /* the event's attachment path */
    struct filter_verdicts path2_atoms;
    struct filter_task task;
    struct filter_object object; /* `ends`: of the second object where only that is a socket */
};

/* Which texts an atom is asked about. */
enum filter_subject {
    FILTER_SUBJECT_PATH = 1, /* of handles and of events */
    FILTER_SUBJECT_EXE = 2,
    FILTER_SUBJECT_COMM = 4,
};

/* A pattern's elements: a byte, or one of these. */
enum filter_token {
    FILTER_TOKEN_ANY_BYTE = 0x100,
    FILTER_TOKEN_ANY_RUN = 0x101, /* also none */
    FILTER_TOKEN_NEVER = 0x102,   /* matches nothing */
    FILTER_TOKEN_LETTER = 0x200,  /* plus a small letter: either case */
};

enum filter_atom_flags {
    /* Decides for any bytes; other atoms only for plain text: ASCII without NUL and backslash. */
    FILTER_ATOM_ANY_TEXT = 1,
};

struct filter_atom {
    __u16 length;  /* of tokens */
    __u8 subjects; /* enum filter_subject */
    __u8 flags;    /* enum filter_atom_flags */
    __u32 reserved;
    __u16 tokens[FILTER_TOKENS_MAX]; /* enum filter_token */
};

#ifdef __cplusplus
static_assert(sizeof(filter_input) == 248);
static_assert(sizeof(filter_atom) == 512);
#else
_Static_assert(sizeof(struct filter_input) == 248, "src/filter generates code for this layout");
_Static_assert(sizeof(struct filter_atom) == 512, "src/filter fills a map of these");
#endif

// NOLINTEND(readability-identifier-naming)
