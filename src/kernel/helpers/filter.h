/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A predicate in the kernel: what its compiled form (src/filter/bpf_compiler.h) is told, and the way of an event through it.
 *
 *   sys_exit ──► judge_task ──► PROGRAM_TASK_FILTER ──► PROGRAM_DROP_TASK     once per context of a task: all its calls
 *      ▲                            └──────────────────► PROGRAM_SYS_EXIT     on again
 *      └─ the event is built ──► pass_on ──► PROGRAM_FILTER ──► PROGRAM_WRITE
 *                                               └─ ends: the event is filtered
 *
 * Text is matched where a name is announced, or where a call gives it; the verdicts stay with the task and the name, and
 * end with them (a rename makes a new name). Without a predicate none of this is loaded.
 */
#pragma once

#include "kernel/helpers/emit.h"
#include "kernel/memory/scratch.h"

/* String conditions of the predicate; filled by src/capture. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FILTER_ATOMS_MAX);
	__type(key, __u32);
	__type(value, struct filter_atom);
} filter_atoms SEC(".maps");

__u32 filter_atom_count;

/* Matches the first `length` bytes of scratch->text; the verdicts are in scratch->verdicts. */
int match_scratch_text(__u32 length, __u32 subject);

/* Adds what the atoms say of text in kernel memory. */
static __always_inline void judge_text(struct scratch *scratch, struct filter_verdicts *verdicts, const void *text, __u32 length,
				       __u32 subject)
{
	if (!filter_atom_count || length > MATCH_TEXT_BYTES)
		return;
	if (length)
		bpf_probe_read_kernel(scratch->text, length, text);
	match_scratch_text(length, subject);
	verdicts->is_true |= scratch->verdicts.is_true;
	verdicts->is_known |= scratch->verdicts.is_known;
}

/* The path just walked. */
static __always_inline void judge_path(struct scratch *scratch, struct filter_verdicts *verdicts, __u32 subject)
{
	__u32 at = scratch->walk.at;

	if (at < PATH_BYTES_MAX)
		judge_text(scratch, verdicts, scratch->path + at, PATH_BYTES_MAX - at, subject);
}

/* A task's context, as it has just been announced from scratch->fact.context. */
static __always_inline void judge_comm(struct scratch *scratch, struct filter_task *filter)
{
	const __u8 *comm = scratch->fact.context.comm;
	__u32 length = 0;

	while (length < sizeof(filter->comm) && comm[length])
		length++;
	judge_text(scratch, &filter->atoms, comm, length, FILTER_SUBJECT_COMM);
}

static __always_inline void tell_filter_of_task(struct scratch *scratch, struct filter_task *filter)
{
	const struct task_context_fact *fact = &scratch->fact.context;

	filter->thread_start_ns = fact->thread_start_ns;
	filter->process_start_ns = fact->process_start_ns;
	filter->cgroup_id = fact->cgroup_id;
	filter->pid = fact->pid;
	filter->tid = fact->tid;
	filter->ppid = fact->ppid;
	filter->pid_in_namespace = fact->pid_in_namespace;
	filter->uid = fact->uid;
	filter->network_namespace = fact->network_namespace;
	__builtin_memcpy(filter->comm, fact->comm, sizeof(filter->comm));
	__builtin_memset(&filter->atoms, 0, sizeof(filter->atoms));
	judge_comm(scratch, filter);
}

/* A name that is about to be announced; its path has just been walked. */
static __always_inline void tell_filter_of_handle(struct scratch *scratch, const struct handle_fact *fact)
{
	struct filter_object *filter = &scratch->new_handle.filter;
	__u32 at = scratch->walk.at;

	__builtin_memset(filter, 0, sizeof(*filter));
	filter->object_id = fact->object_id;
	filter->object_type = fact->object_type;
	__builtin_memcpy(filter->file_system, fact->file_system, sizeof(filter->file_system));
	/* what has no place in a file system gets its readable name in user space */
	if (at < PATH_BYTES_MAX && scratch->path[at] == '/')
		judge_path(scratch, &filter->atoms, FILTER_SUBJECT_PATH);
}

static __always_inline void tell_filter_of_socket(struct scratch *scratch, const struct socket_fact *fact)
{
	struct filter_ends *filter = &scratch->new_handle.filter.ends;

	filter->connection_id = fact->connection_id;
	filter->family = fact->family;
	filter->local_port = fact->local_port;
	filter->remote_port = fact->remote_port;
	__builtin_memcpy(filter->local_address, fact->local_address, sizeof(filter->local_address));
	__builtin_memcpy(filter->remote_address, fact->remote_address, sizeof(filter->remote_address));
}

/* The event's object, or its second one, is what was just seen; either may be told first. */
static __always_inline void tell_filter_of_seen(struct scratch *scratch, bool second)
{
	struct filter_input *input = &scratch->input;

	if (!scratch->seen.announced)
		return;
	if (second) {
		input->object2_id = scratch->seen.filter.object_id;
		input->object2_atoms = scratch->seen.filter.atoms;
		input->known |= FILTER_KNOWS_OBJECT2;
		if (!input->object.ends.family)
			input->object.ends = scratch->seen.filter.ends;
	} else {
		if (!scratch->seen.filter.ends.family)
			scratch->seen.filter.ends = input->object.ends;
		input->object = scratch->seen.filter;
		input->known |= FILTER_KNOWS_OBJECT;
	}
}

/* A path that the call was given. */
static __always_inline void tell_filter_of_path(struct scratch *scratch, const void *text, __u32 length, bool second)
{
	struct filter_input *input = &scratch->input;

	input->known |= second ? FILTER_HAS_PATH2 : FILTER_HAS_PATH;
	judge_text(scratch, second ? &input->path2_atoms : &input->path_atoms, text, length, FILTER_SUBJECT_PATH);
}

/* A struct sockaddr that the call was given. */
static __always_inline void tell_filter_of_address(struct scratch *scratch, const __u8 *address, __u32 length)
{
	struct filter_input *input = &scratch->input;
	__u16 family = *(const __u16 *)address;

	input->known |= FILTER_HAS_ADDRESS;
	if (family == AF_INET && length >= 16)
		__builtin_memcpy(input->address, address + 4, 4);
	else if (family == AF_INET6 && length >= 24)
		__builtin_memcpy(input->address, address + 8, 16);
	else
		return;
	input->address_family = family;
	input->address_port = __builtin_bswap16(*(const __u16 *)(address + 2));
	input->known |= FILTER_KNOWS_ADDRESS;
}
