/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tp_btf/sys_enter, tp_btf/sys_exit: every system call of the watched tasks. Entry remembers what exit can't know (when it
 * began, and the file behind a descriptor that the call may close); exit builds one event and writes it. With a predicate
 * exit is several programs, see filter.h.
 */
#include "kernel/helpers/begin.h"
#include "kernel/helpers/children.h"
#include "kernel/content/content.h"
#include "kernel/content/deferred.h"
#include "kernel/helpers/left.h"
#include "kernel/helpers/offset.h"
#include "kernel/helpers/packed.h"
#include "kernel/content/parts.h"
#include "kernel/helpers/paths.h"
#include "kernel/helpers/preview.h"
#include "kernel/helpers/process.h"
#include "kernel/programs/begin_and_end.h"
#include "kernel/programs/special.h"
#include "kernel/memory/totals.h"

/* Where src/filter finds what it reads. */
const volatile __u32 scratch_event_offset = offsetof(struct scratch, event);
const volatile __u32 scratch_input_offset = offsetof(struct scratch, input);

/* What the programs here go on in; filled by src/capture. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 8); /* enum program_index */
	__type(key, __u32);
	__type(value, __u32);
} entry_programs SEC(".maps"), exit_programs SEC(".maps");

/* close: the file is gone at exit. */
static __always_inline void remember_closed(struct task_state *state)
{
	struct scratch *scratch = cpu_scratch();

	if (!scratch || !state->entry_file)
		return;
	see_file(scratch, state->entry_file, 0);
	keep_seen(scratch, state);
}

SEC(SYS_ENTER)
int ENTER_PROGRAM(sys_enter)
{
	struct task_struct *current = this_task(), *task = typed(task_struct, current);
	struct task_state *state = watched_state(current);
	const volatile struct syscall_shape *shape;
	__u64 number = id;
	__u32 abi, index;

	if (!state)
		return 0;
	abi = abi_of(task, &number);
	shape = shape_of(abi, number);
	/* what may change a task's context is remembered all the same: its exit is judged by the new one */
	if (filter_loaded && state->flags & TASK_DROPPED && shape->event_class != CLASS_PROCESS)
		return 0;
	state->syscall = (number & 0xffff) | abi << ABI_SHIFT;
	state->flags |= TASK_IN_CALL;
	state->off_cpu_ns = 0;
	state->switched_out_ns = 0;
	state->entry_file = 0;
	state->handle_id = 0;
	state->target_tid = 0;
	state->stream_sk = 0;
	state->removed.ino = 0;
	/* most calls need no more than a descriptor, which most have in front */
	if (preview_bytes || shape->special || shape->fd > 1 || abi == ABI_COMPAT || shape->flags & CALL_ADDRESS_OUT) {
		read_arguments(state->arguments, regs, abi);
		narrow_arguments(state->arguments, shape);
	} else {
		state->arguments[0] = first_argument(regs);
	}
	if (abi == ABI_COMPAT)
		shape = shape_of(abi, unpack_entry(state, number));
	if (shape->flags & CALL_ADDRESS_OUT)
		state->address_room = address_room(state->arguments, abi, state->syscall & NUMBER_MAX);
	if (shape->fd) {
		index = (shape->fd - 1) & 7;
		state->entry_file = file_of(task, index < 6 ? state->arguments[index] : -1);
		if (state->entry_file && shape->flags & CALL_POSITION)
			state->entry_position = READ(typed(file, state->entry_file), f_pos);
		if (shape->special == SPECIAL_CLOSE)
			remember_closed(state);
	}
	if (preview_bytes)
		keep_entry_values(state, shape);
	state->entry_ns = bpf_ktime_get_boot_ns();
	if (is_prepared(shape->special))
		bpf_tail_call_static(ctx, &entry_programs, PROGRAM_PREPARE);
	return 0;
}

static __always_inline void fill_first_object(struct scratch *scratch, __u64 file, struct task_state *state,
					      const volatile struct syscall_shape *shape)
{
	struct syscall_event *event = &scratch->event;
	bool takes;

	take_seen(scratch, false);
	event->open_flags = scratch->seen.open_flags;
	event->present |= SYSCALL_HAS_OPEN_FLAGS;
	event->event_class = class_of(shape, scratch->seen.object_type);
	if (scratch->seen.object_type == OBJECT_TYPE_FILE) {
		event->object_size = scratch->seen.size;
		event->present |= SYSCALL_HAS_OBJECT_SIZE;
	}
	if (shape->flags & CALL_POSITION || shape->offset)
		fill_offset(event, shape, state, scratch);
	if (shape->flags & CALL_IS_IO && shape->returns == RETURNS_BYTES) {
		takes = shape->flags & CALL_INBOUND || shape->special == SPECIAL_SPLICE;
		fill_stream_offset(scratch, shape, takes);
		if (event->result > 0 && is_held_alone(scratch, file))
			event->present |= SYSCALL_HAS_HELD_ALONE;
	} else { /* a FIFO that nobody had open any more has lost what was in it */
		takes = shape->returns == RETURNS_FD && scratch->seen.object_type == OBJECT_TYPE_PIPE;
	}
	if (takes && event->result >= 0 && leaves_nothing(scratch, file))
		event->present |= SYSCALL_HAS_LEFT_NOTHING;
}

/* What the entry kept of a call that may end it: close, munmap; of a mapping where in the file it is, too. */
static __always_inline void fill_kept(struct scratch *scratch, struct task_state *state,
				      const volatile struct syscall_shape *shape)
{
	struct syscall_event *event = &scratch->event;

	if (!state->handle_id)
		return;
	tell_filter_of_kept(scratch, state);
	event->handle_id = state->handle_id;
	event->open_flags = state->open_flags;
	event->event_class = class_of(shape, state->entry_type);
	event->present |= SYSCALL_HAS_HANDLE | SYSCALL_HAS_OPEN_FLAGS;
	if (shape->special != SPECIAL_MAPPING)
		return;
	event->file_offset = state->entry_position;
	event->present |= SYSCALL_HAS_FILE_OFFSET | SYSCALL_HAS_OFFSET_CERTAIN;
}

/* A second object that is only named: the socket that was listened on, the descriptor that was duplicated. */
static __always_inline void name_second(struct scratch *scratch)
{
	if (scratch->seen.handle_id)
		take_seen(scratch, true);
}

/* pipe and socketpair: one object with two ends, or two. */
static __always_inline void fill_pair(struct scratch *scratch, struct task_struct *task, struct task_state *state,
				      const volatile struct syscall_shape *shape)
{
	struct syscall_event *event = &scratch->event;
	__s32 ends[2];
	__u64 inode;

	if (event->result < 0 || bpf_probe_read_user(ends, sizeof(ends), (void *)argument(event, shape->several)))
		return;
	event->fd = ends[0];
	event->present |= SYSCALL_HAS_FD;
	see_file(scratch, file_of(task, ends[0]), SEE_FRESH);
	if (scratch->seen.handle_id)
		fill_first_object(scratch, 0, state, shape);
	inode = scratch->seen.inode;
	see_file(scratch, file_of(task, ends[1]), inode_of(file_of(task, ends[1])) == inode ? 0 : SEE_FRESH);
	name_second(scratch);
}

static __always_inline bool makes_descriptor(const struct syscall_event *event, const volatile struct syscall_shape *shape)
{
	if (event->result < 0)
		return false;
	if (shape->special == SPECIAL_FCNTL)
		return event->arguments[1] == F_DUPFD || event->arguments[1] == F_DUPFD_CLOEXEC;
	return shape->returns == RETURNS_FD;
}

/* The descriptor that a call made, or the one that it was given. */
static __always_inline void fill_objects(struct scratch *scratch, struct task_struct *task, struct task_state *state,
					 const volatile struct syscall_shape *shape)
{
	struct syscall_event *event = &scratch->event;
	bool makes = makes_descriptor(event, shape);
	__u64 file = state->entry_file;
	__u32 flags = 0;

	if (shape->fd) {
		event->fd = argument(event, shape->fd);
		event->present |= SYSCALL_HAS_FD;
	}
	if (shape->special == SPECIAL_CLOSE || shape->special == SPECIAL_MAPPING) {
		fill_kept(scratch, state, shape);
		return;
	}
	if (makes) {
		if (shape->special == SPECIAL_ACCEPT) {
			see_file(scratch, file, 0);
			name_second(scratch);
		}
		event->fd = event->result;
		event->present |= SYSCALL_HAS_FD;
		file = file_of(task, event->result);
		flags = !shape->fd || shape->special == SPECIAL_ACCEPT ? SEE_FRESH : 0;
	} else if (!shape->fd) {
		return;
	}
	see_file(scratch, file, flags);
	if (!scratch->seen.handle_id)
		return;
	fill_first_object(scratch, file, state, shape);
	if (makes && (shape->special == SPECIAL_DUP || shape->special == SPECIAL_FCNTL))
		name_second(scratch);
}

static __always_inline void fill_second_object(struct scratch *scratch, struct task_struct *task, struct task_state *state,
					       const volatile struct syscall_shape *shape)
{
	struct syscall_event *event = &scratch->event;
	__u64 file = file_of(task, argument(event, shape->fd2));

	see_file(scratch, file, 0);
	if (!scratch->seen.handle_id)
		return;
	name_second(scratch);
	if (!is_held_alone(scratch, file))
		event->present &= ~SYSCALL_HAS_HELD_ALONE;
	if (shape->special == SPECIAL_SPLICE)
		fill_stream_offset(scratch, shape, false);
	if (!(shape->flags & CALL_POSITION) || scratch->seen.object_type != OBJECT_TYPE_FILE)
		return;
	fill_offset2(event, shape, state, scratch);
}

static __always_inline void fill_event(struct scratch *scratch, struct task_struct *task, struct task_state *state)
{
	struct syscall_event *event = &scratch->event;
	const volatile struct syscall_shape *shape = shape_of(event->abi, event->syscall);
	bool compat = event->abi == ABI_COMPAT;

	event->event_class = shape->event_class;
	if (shape->packed && !(state->flags & TASK_UNPACKED))
		return;
	if (shape->special == SPECIAL_PAIR)
		fill_pair(scratch, task, state, shape);
	else
		fill_objects(scratch, task, state, shape);
	if (shape->fd2)
		fill_second_object(scratch, task, state, shape);
	if (shape->special == SPECIAL_RENAME && event->result >= 0)
		__sync_fetch_and_add(&name_epoch, 1);
	if (shape->flags & CALL_TEXTS)
		fill_texts(ref_of(scratch), state_ref_of(state));
	if (shape->flags & CALL_MOVES || shape->size)
		fill_requested(scratch, shape, compat);
	if (shape->address || shape->message)
		fill_address(scratch, state, shape, compat);
	if (event->result >= 0 && (shape->returns == RETURNS_BYTES || shape->returns == RETURNS_WHOLE)) {
		event->bytes = shape->returns == RETURNS_WHOLE ? event->requested : event->result;
		event->present |= SYSCALL_HAS_BYTES;
	}
	if (shape->special == SPECIAL_OWN_ADDRESS)
		event->present |= SYSCALL_HAS_NAMES_OWN_END;
	if (shape->special == SPECIAL_WAIT && event->result >= 0)
		fill_waited(scratch, state, shape);
	if (state->target_tid) {
		event->target_tid = state->target_tid;
		event->target_start_ns = state->target_start_ns;
		event->present |= SYSCALL_HAS_TARGET;
	}
	if (preview_bytes)
		attach_previews(scratch, shape);
}

/* Asks the predicate about a task whose context is new; goes on through PROGRAM_SYS_EXIT if it may select its calls. */
static __always_inline void judge_task(void *ctx, struct scratch *scratch, struct task_state *state)
{
	if (!state->context_announced || state->flags & TASK_JUDGED)
		return;
	state->flags |= TASK_JUDGED;
	__builtin_memset(&scratch->input, 0, sizeof(scratch->input));
	scratch->input.task = state->filter;
	scratch->input.known = FILTER_KNOWS_TASK;
	bpf_tail_call(ctx, &exit_programs, PROGRAM_TASK_FILTER);
}

/* The predicate selects no call of this task. */
static __always_inline void drop_call(struct task_state *state, struct ring_control *control)
{
	state->flags &= ~TASK_IN_CALL;
	control->generated++;
	control->filtered++;
}

SEC(SYS_EXIT)
int EXIT_PROGRAM(drop_task)
{
	struct task_state *state = state_of(this_task());
	struct ring_control *control = ring_control(STREAM_EVENTS);

	if (!state || !control)
		return 0;
	state->flags |= TASK_DROPPED;
	drop_call(state, control);
	return 0;
}

static __always_inline bool has_parts(const struct syscall_event *event)
{
	__u8 special = shape_of(event->abi, event->syscall)->special;

	return moves_in_parts(special) || special == SPECIAL_IO_SUBMIT;
}

/* Sends the event through the predicate; comes back only if there is none. An event with parts is decided with them. */
static __always_inline void pass_on(void *ctx, struct scratch *scratch, struct ring_control *control, struct task_state *state)
{
	scratch->input.cpu = bpf_get_smp_processor_id();
	if (state->context_announced) {
		scratch->input.task = state->filter;
		scratch->input.known |= FILTER_KNOWS_TASK;
	}
	control->filtered++;
	bpf_tail_call(ctx, &exit_programs, PROGRAM_FILTER);
	control->filtered--;
}

/* Writes the event, and then what belongs to it (`follow`). */
static __always_inline void write_event(void *ctx, struct scratch *scratch, struct ring_control *control)
{
	const volatile struct syscall_shape *shape = shape_of(scratch->event.abi, scratch->event.syscall);
	__u32 special = shape->special;

	if (count_only) {
		if (add_to_totals(&scratch->event, bpf_get_current_pid_tgid() >> 32))
			control->aggregated++;
		else
			count_loss(control);
		return;
	}
	if (only_dyed && !scratch->event.attachments && scratch->event.bytes <= 0 && !has_parts(&scratch->event)) {
		control->filtered++;
		return;
	}
	if (!write_with_finds(scratch))
		return;
	if (special == SPECIAL_EPOLL_CTL    ? scratch->event.arguments[1] != EPOLL_CTL_DEL
	    : special == SPECIAL_EPOLL_WAIT ? scratch->event.result > 0
					    : is_followed(special) || shape->flags & CALL_UNSEEN)
		bpf_tail_call_static(ctx, &exit_programs, PROGRAM_FOLLOW);
}

/* With --content or --dye, of a call that may have moved bytes: goes on in write_with_content. */
static __always_inline void write_content(void *ctx, const struct scratch *scratch)
{
	const struct syscall_event *event = &scratch->event;
	const volatile struct syscall_shape *shape;

	if (!looks_at_content())
		return;
	shape = shape_of(event->abi, event->syscall);
	if ((event->present & SYSCALL_HAS_BYTES && event->bytes >= 0 && shape->flags & CALL_MOVES) ||
	    (can_defer && moves_in_parts(shape->special)))
		bpf_tail_call(ctx, &exit_programs, PROGRAM_WRITE_CONTENT);
}

/* False: something of it is not in memory. */
static __always_inline bool look_or_probe(struct scratch *scratch)
{
	if (moves_in_parts(shape_of(scratch->event.abi, scratch->event.syscall)->special))
		return parts_are_resident(scratch);
	return look_at_content(ref_of(scratch), true);
}

static __always_inline void look_at_bytes(struct scratch *scratch)
{
	if (scratch->event.present & SYSCALL_HAS_BYTES)
		look_at_content(ref_of(scratch), false);
}

/* Where the kernel can defer a call. */
SEC(SYS_EXIT)
int EXIT_PROGRAM(write_with_content)
{
	struct ring_control *control = ring_control(STREAM_EVENTS);
	struct scratch *scratch = cpu_scratch();

	if (!scratch || !control)
		return 0;
	if (!look_or_probe(scratch)) {
		if (defer(scratch))
			return 0;
		look_at_bytes(scratch);
	}
	write_event(ctx, scratch, control);
	return 0;
}

/* Where it cannot: a program of its own, since a kernel that knows no task work counts what that would call as frames of this one. */
SEC(SYS_EXIT)
int EXIT_PROGRAM(write_with_resident_content)
{
	struct ring_control *control = ring_control(STREAM_EVENTS);
	struct scratch *scratch = cpu_scratch();

	if (!scratch || !control)
		return 0;
	look_at_bytes(scratch);
	write_event(ctx, scratch, control);
	return 0;
}

SEC(SYS_EXIT)
int EXIT_PROGRAM(write_selected)
{
	struct ring_control *control = ring_control(STREAM_EVENTS);
	struct scratch *scratch = cpu_scratch();

	if (!scratch || !control)
		return 0;
	control->filtered--;
	write_content(ctx, scratch);
	write_event(ctx, scratch, control);
	return 0;
}

SEC(SYS_EXIT)
int EXIT_PROGRAM(sys_exit)
{
	struct task_struct *current = this_task(), *task = typed(task_struct, current);
	struct task_state *state = watched_state(current);
	struct ring_control *control;
	struct scratch *scratch;
	bool is_current;

	if (!state || !is_own_call(state))
		return 0;
	control = ring_control(STREAM_EVENTS);
	if (!control)
		return 0;
	is_current = context_is_current(state, task);
	if (filter_loaded && is_current && state->flags & TASK_DROPPED) {
		drop_call(state, control);
		return 0;
	}
	scratch = cpu_scratch();
	if (!scratch)
		return 0;
	if (!is_current)
		announce_context(state, task, scratch);
	if (filter_loaded) {
		judge_task(ctx, scratch, state);
		__builtin_memset(&scratch->input, 0, sizeof(scratch->input));
	}
	control->generated++;
	begin_event(&scratch->event, state, regs, task, result);
	scratch->event.context_id = state->context_id;
	fill_event(scratch, task, state);
	if (filter_loaded && !has_parts(&scratch->event))
		pass_on(ctx, scratch, control, state);
	write_content(ctx, scratch);
	write_event(ctx, scratch, control);
	return 0;
}
