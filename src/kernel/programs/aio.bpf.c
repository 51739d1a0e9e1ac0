/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handles io_submit and io_getevents: writes a part per control block. That of io_submit has no result; that of io_getevents has
 * it, and the time from the submission until then. Both carry the control block's address as cookie.
 *
 *   io_submit     entry: control block ──► submissions       exit: part (unfinished) and object, per block
 *   io_getevents  exit:  event ──► submissions ──► part (finished)
 *
 * Programs may also take completions from the ring that the kernel maps into them, without a call: these have no second part.
 */
#include "kernel/helpers/children.h"
#include "kernel/content/content.h"
#include "kernel/content/parts.h"

/* struct iocb, as 32-bit programs have it too. */
struct control_block {
	__u64 data;
	__u32 key, rw_flags;
	__u16 operation;
	__s16 priority;
	__s32 fd;
	__u64 buffer, bytes;
	__s64 offset;
	__u64 reserved;
	__u32 flags;
	__s32 notify_fd;
};

enum control_block_operation {
	BLOCK_PREAD,
	BLOCK_PWRITE,
	BLOCK_FSYNC,
	BLOCK_FDSYNC,
	BLOCK_POLL = 5,
	BLOCK_PREADV = 7,
	BLOCK_PWRITEV
};

/* The call that an operation amounts to. */
static __always_inline __u16 number_of_operation(__u16 operation, bool compat)
{
	switch (operation) {
	case BLOCK_PREAD:
		return compat ? NUMBER_COMPAT_PREAD64 : NUMBER_NATIVE_PREAD64;
	case BLOCK_PWRITE:
		return compat ? NUMBER_COMPAT_PWRITE64 : NUMBER_NATIVE_PWRITE64;
	case BLOCK_FSYNC:
		return compat ? NUMBER_COMPAT_FSYNC : NUMBER_NATIVE_FSYNC;
	case BLOCK_FDSYNC:
		return compat ? NUMBER_COMPAT_FDATASYNC : NUMBER_NATIVE_FDATASYNC;
	case BLOCK_POLL:
		return compat ? NUMBER_COMPAT_POLL : NUMBER_NATIVE_POLL;
	case BLOCK_PREADV:
		return compat ? NUMBER_COMPAT_PREADV : NUMBER_NATIVE_PREADV;
	case BLOCK_PWRITEV:
		return compat ? NUMBER_COMPAT_PWRITEV : NUMBER_NATIVE_PWRITEV;
	}
	return compat ? NUMBER_COMPAT_IO_GETEVENTS : NUMBER_NATIVE_IO_GETEVENTS;
}

/* AIO: what was submitted, by its control block. */
struct submission_key {
	__u64 mm; /* address */
	__u64 control_block;
};

struct submission {
	__u64 start_ns;
	__u64 requested;
	__u64 buffer; /* or iovecs */
	__u64 vector_parts; /* 0: one buffer */
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

static __always_inline bool read_block(struct blocks_walk *walk, __u32 index, struct control_block *block, __u64 *address)
{
	__u32 size = walk->compat ? 4 : 8;

	*address = 0;
	return bpf_probe_read_user(address, size, (void *)(walk->base + index * size)) == 0 &&
	       bpf_probe_read_user(block, sizeof(*block), (void *)*address) == 0;
}

static __always_inline __u8 class_of_block(__u32 object_type)
{
	if (object_type == OBJECT_TYPE_SOCKET)
		return CLASS_NETWORK;
	return object_type == OBJECT_TYPE_PIPE ? CLASS_PIPE : CLASS_FILE;
}

/* What a control block asks for. */
static __always_inline void describe(struct scratch *scratch, struct submission *submission, const struct control_block *block,
				     bool compat)
{
	bool transfers = block->operation <= BLOCK_PWRITE || block->operation >= BLOCK_PREADV;
	bool writes = block->operation == BLOCK_PWRITE || block->operation == BLOCK_PWRITEV;

	__builtin_memset(submission, 0, sizeof(*submission));
	see_file(scratch, file_of(current_task(), block->fd), 0);
	submission->fd = block->fd;
	submission->handle_id = scratch->seen.handle_id;
	submission->open_flags = scratch->seen.open_flags;
	submission->operation = number_of_operation(block->operation, compat);
	submission->event_class = class_of_block(scratch->seen.object_type);
	submission->moves = transfers;
	if (!transfers)
		return;
	submission->buffer = block->buffer;
	submission->vector_parts = block->operation >= BLOCK_PREADV ? block->bytes : 0;
	submission->requested =
		block->operation >= BLOCK_PREADV ? vector_bytes(block->buffer, block->bytes, compat) : block->bytes;
	if (scratch->seen.object_type != OBJECT_TYPE_FILE && scratch->seen.object_type != OBJECT_TYPE_BLOCK_DEVICE)
		return;
	if (writes && (scratch->seen.open_flags & O_APPEND || block->rw_flags & RWF_APPEND))
		return;
	submission->file_offset = block->offset;
	submission->has_offset = 1;
}

static __always_inline void fill_part(struct part_event *part, const struct submission *submission)
{
	part->operation = submission->operation;
	part->event_class = submission->event_class;
	part->fd = submission->fd;
	part->present |= PART_HAS_FD;
	if (submission->handle_id) {
		part->handle_id = submission->handle_id;
		part->open_flags = submission->open_flags;
		part->present |= PART_HAS_HANDLE | PART_HAS_OPEN_FLAGS;
	}
	if (submission->moves) {
		part->requested = submission->requested;
		part->present |= PART_HAS_REQUESTED;
	}
	if (submission->has_offset) {
		part->file_offset = submission->file_offset;
		part->present |= PART_HAS_FILE_OFFSET | PART_HAS_OFFSET_CERTAIN;
	}
}

LOOP_BODY(keep_block)
{
	struct scratch *scratch = cpu_scratch();
	struct submission_key key = {};
	struct submission submission;
	struct control_block block;
	struct blocks_walk *walk;

	if (!scratch)
		return 1;
	walk = &scratch->blocks;
	key.mm = walk->mm;
	if (!read_block(walk, index, &block, &key.control_block))
		return 1;
	describe(scratch, &submission, &block, walk->compat);
	submission.start_ns = walk->start_ns;
	bpf_map_update_elem(&submissions, &key, &submission, BPF_ANY);
	return 0;
}

/* At entry: another thread may have the completion before this one returns. */
static __always_inline void prepare_io_submit(struct scratch *scratch, struct task_state *state)
{
	struct blocks_walk *walk = &scratch->blocks;

	if ((__s64)state->arguments[1] <= 0)
		return;
	walk->base = state->arguments[2];
	walk->mm = mm_of(scratch, current_task());
	walk->start_ns = state->entry_ns;
	walk->compat = state->syscall >> ABI_SHIFT == ABI_COMPAT;
	each_turn(state->arguments[1] < TOUCHED_MAX ? state->arguments[1] : TOUCHED_MAX, keep_block);
}

LOOP_BODY(write_submitted)
{
	struct scratch *scratch = cpu_scratch();
	struct submission submission;
	struct control_block block;
	struct blocks_walk *walk;
	struct part_event *part;
	__u64 address;

	if (!scratch)
		return 1;
	walk = &scratch->blocks;
	if (!read_block(walk, index, &block, &address))
		return 1;
	describe(scratch, &submission, &block, walk->compat);
	part = begin_part(scratch, index);
	if (!part)
		return 1;
	part->present = 0; /* it is not over */
	part->duration_ns = 0;
	part->cookie = address;
	fill_part(part, &submission);
	end_part(part);
	touch(scratch, EVENT_ROLE_SUBMITTED, submission.fd, submission.handle_id, 0);
	return 0;
}

static __always_inline void follow_io_submit(struct scratch *scratch)
{
	if (scratch->event.result <= 0)
		return;
	scratch->blocks.base = scratch->event.arguments[2];
	scratch->blocks.compat = scratch->event.abi == ABI_COMPAT;
	walk_members(scratch, write_submitted, scratch->event.result, EVENT_ROLE_SUBMITTED);
}

struct completion {
	__u64 data, control_block;
	__s64 result, result2;
};

static __always_inline bool read_completion(const struct syscall_event *event, __u32 index, struct completion *completion)
{
	__u64 at = event->arguments[3] + index * sizeof(*completion);

	return bpf_probe_read_user(completion, sizeof(*completion), (void *)at) == 0;
}

static __noinline bool find_completed_bytes(struct byte_walk *walk, const struct syscall_event *event, __u64 mm, __u32 index)
{
	struct submission_key key = { .mm = mm };
	struct submission *submission;
	struct completion completion;

	if (!read_completion(event, index, &completion))
		return false;
	key.control_block = completion.control_block;
	submission = bpf_map_lookup_elem(&submissions, &key);
	begin_walk(walk, submission && submission->moves && completion.result > 0 ? completion.result : 0);
	if (!submission)
		return true;
	walk->compat = event->abi == ABI_COMPAT;
	if (submission->vector_parts) {
		walk->vector = submission->buffer;
		walk->parts = submission->vector_parts;
	} else {
		walk->piece = submission->buffer;
		walk->piece_bytes = walk->left;
	}
	return true;
}

LOOP_BODY(write_completed)
{
	struct scratch *scratch = cpu_scratch();
	struct submission_key key = {};
	struct submission *submission;
	struct completion completion;
	struct blocks_walk *walk;
	struct part_event *part;

	if (!scratch)
		return 1;
	walk = &scratch->blocks;
	key.mm = walk->mm;
	if (!read_completion(&scratch->event, index, &completion))
		return 1;
	part = begin_part(scratch, index);
	if (!part)
		return 1;
	part->result = completion.result;
	part->cookie = completion.control_block;
	part->operation = scratch->event.syscall; /* unless more is known */
	part->event_class = scratch->event.event_class;
	part->present = PART_HAS_RESULT;
	key.control_block = completion.control_block;
	submission = bpf_map_lookup_elem(&submissions, &key);
	if (submission) {
		part->start_ns = submission->start_ns;
		part->duration_ns = scratch->event.start_ns + scratch->event.duration_ns - submission->start_ns;
		part->present |= PART_HAS_DURATION;
		fill_part(part, submission);
		if (submission->moves && completion.result >= 0) {
			part->bytes = completion.result;
			part->present |= PART_HAS_BYTES;
			if (looks_at_content())
				look_at_part(ref_of(scratch), submission->buffer, submission->vector_parts, completion.result,
					     walk->compat);
		}
		bpf_map_delete_elem(&submissions, &key);
	}
	end_part(part);
	return 0;
}

static __always_inline void write_completions(struct scratch *scratch, __u64 mm)
{
	scratch->blocks.mm = mm;
	scratch->blocks.compat = scratch->event.abi == ABI_COMPAT;
	walk_members(scratch, write_completed, scratch->event.result, EVENT_ROLE_SUBMITTED);
}

static __always_inline void follow_io_getevents(struct scratch *scratch)
{

	if (scratch->event.result > 0)
		write_completions(scratch, mm_of(scratch, current_task()));
}
