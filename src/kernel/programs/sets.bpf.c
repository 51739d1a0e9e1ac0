/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handles calls that act on many descriptors: poll, select, close_range, pipe and socketpair. What close_range and
 * select act on is gone at exit: a preparer keeps it in entry_sets.
 */
#include "kernel/helpers/children.h"

#define CLOSE_SCAN_MAX (TURNS_MAX < 65536 ? TURNS_MAX : 65536) /* descriptors looked at, open or not */

static __always_inline union entry_set *take_entry_set(struct scratch *scratch)
{
	__u64 key = number_of(scratch, current_task());

	return bpf_map_lookup_elem(&entry_sets, &key);
}

static __always_inline void drop_entry_set(struct scratch *scratch)
{
	__u64 key = number_of(scratch, current_task());

	bpf_map_delete_elem(&entry_sets, &key);
}

static __always_inline void touch_polled_descriptor(struct scratch *scratch, __s32 fd, __u16 asked, __u32 events)
{
	struct event_object_fact *fact;

	see_file(scratch, file_of(current_task(), fd), 0);
	fact = begin_touch(scratch, EVENT_ROLE_POLL, fd, -1, -1);
	fact->handle_id = scratch->seen.handle_id;
	fact->asked_events = asked;
	fact->events = events;
	write_touched(ref_of(scratch));
}

LOOP_BODY(touch_polled)
{
	struct scratch *scratch = cpu_scratch();
	struct {
		__s32 fd;
		__s16 events, revents;
	} member = {};

	if (!scratch ||
	    bpf_probe_read_user(&member, sizeof(member), (void *)(scratch->event.arguments[0] + index * sizeof(member))))
		return 1;
	if (member.fd >= 0 && (member.revents || index < TOUCHED_IDLE_MAX))
		touch_polled_descriptor(scratch, member.fd, member.events, (__u16)member.revents);
	return 0;
}

static __always_inline void follow_poll(struct scratch *scratch)
{
	__u64 count;

	if (scratch->event.result < 0)
		return;
	count = scratch->event.arguments[1];
	each_turn(count < TOUCHED_MAX ? count : TOUCHED_MAX, touch_polled);
	if (count > TOUCHED_IDLE_MAX)
		touch_rest(scratch, EVENT_ROLE_POLL, TOUCHED_IDLE_MAX, count);
}

/* Reads the three sets of a select; missing ones are empty. */
static __always_inline void read_sets(struct select_set *sets, const __u64 *arguments)
{
	__u32 bytes = ((__u32)arguments[0] + 63) / 64 * 8;

	opaque(bytes);
	if (bytes > sizeof(sets->bits[0]))
		bytes = sizeof(sets->bits[0]);
	for (int i = 0; i < 3; i++) {
		__builtin_memset(sets->bits[i], 0, sizeof(sets->bits[i]));
		if (arguments[1 + i])
			bpf_probe_read_user(sets->bits[i], bytes, (void *)arguments[1 + i]);
	}
}

static __always_inline void prepare_select(struct scratch *scratch, struct task_state *state)
{
	struct task_struct *task = current_task();
	__u64 key;

	key = number_of(scratch, task);
	read_sets(&scratch->entry_set.selected, state->arguments);
	bpf_map_update_elem(&entry_sets, &key, &scratch->entry_set, BPF_ANY);
}

static __always_inline bool has_bit(const struct select_set *sets, __u32 set, __u32 bit)
{
	return set < 3 && sets->bits[set][bit / 64 & (SELECT_WORDS - 1)] >> (bit & 63) & 1;
}

/* In poll's words. */
static __always_inline __u32 events_of(const struct select_set *sets, __u32 bit)
{
	return (has_bit(sets, 0, bit) ? POLLIN : 0) | (has_bit(sets, 1, bit) ? POLLOUT : 0) |
	       (has_bit(sets, 2, bit) ? POLLPRI : 0);
}

LOOP_BODY(touch_selected)
{
	struct scratch *scratch = cpu_scratch();
	__u32 asked, events = 0;

	if (!scratch)
		return 1;
	asked = events_of(&scratch->asked_set, index);
	if (!asked)
		return 0;
	if (scratch->event.result > 0)
		events = events_of(&scratch->entry_set.selected, index);
	if (events || scratch->members.idle++ < TOUCHED_IDLE_MAX)
		touch_polled_descriptor(scratch, index, asked, events);
	return 0;
}

static __noinline void follow_select(struct scratch *scratch)
{
	union entry_set *set = take_entry_set(scratch);
	__u64 count = scratch->event.arguments[0];

	if (!set)
		return;
	if (scratch->event.result >= 0) {
		bpf_probe_read_kernel(&scratch->asked_set, sizeof(scratch->asked_set), &set->selected);
		read_sets(&scratch->entry_set.selected, scratch->event.arguments);
		scratch->members.idle = 0;
		each_turn(count < SELECT_WORDS * 64 ? count : SELECT_WORDS * 64, touch_selected);
		if (scratch->members.idle > TOUCHED_IDLE_MAX)
			touch_rest(scratch, EVENT_ROLE_POLL, 0, scratch->event.arguments[0]);
	}
	drop_entry_set(scratch);
}

/* Lists one open descriptor of the range; it is closed at exit. */
LOOP_BODY(keep_closed)
{
	struct scratch *scratch = cpu_scratch();
	struct closed_set *set;
	__u32 at, fd;
	__u64 file;

	if (!scratch)
		return 1;
	fd = scratch->members.first + index;
	if (fd > scratch->members.last)
		return 1;
	file = file_of(current_task(), fd);
	if (!file)
		return 0;
	set = &scratch->entry_set.closed;
	at = set->count;
	if (at >= CLOSED_MAX || index + 1 == CLOSE_SCAN_MAX) {
		set->next = fd;
		return 1;
	}
	see_file(scratch, file, 0);
	set->files[at].fd = fd;
	set->files[at].handle_id = scratch->seen.handle_id;
	set->count = at + 1;
	return 0;
}

static __always_inline void prepare_close_range(struct scratch *scratch, struct task_state *state)
{
	struct task_struct *task = current_task();
	struct files_struct *files = LOAD(task, files);
	__u32 first, last, descriptors;
	__u64 key;

	if (!files || state->arguments[2] & CLOSE_RANGE_CLOEXEC)
		return;
	descriptors = LOAD(files, fdt, max_fds);
	first = state->arguments[0];
	last = state->arguments[1];
	if (first > last || first >= descriptors)
		return;
	key = number_of(scratch, task);
	scratch->entry_set.closed.count = 0;
	scratch->entry_set.closed.next = -1;
	scratch->members.first = first;
	scratch->members.last = last;
	each_turn(descriptors - first < CLOSE_SCAN_MAX ? descriptors - first : CLOSE_SCAN_MAX, keep_closed);
	bpf_map_update_elem(&entry_sets, &key, &scratch->entry_set, BPF_ANY);
}

LOOP_BODY(touch_closed)
{
	struct scratch *scratch = cpu_scratch();
	struct closed_set *set;

	if (!scratch)
		return 1;
	set = &scratch->entry_set.closed;
	if (index >= CLOSED_MAX || index >= set->count)
		return 1;
	touch(scratch, EVENT_ROLE_CLOSED, set->files[index].fd, set->files[index].handle_id, 0);
	return 0;
}

static __noinline void follow_close_range(struct scratch *scratch)
{
	union entry_set *set = take_entry_set(scratch);
	struct closed_set *closed = &scratch->entry_set.closed;

	if (!set)
		return;
	if (scratch->event.result >= 0) {
		bpf_probe_read_kernel(closed, sizeof(*closed), &set->closed);
		each_turn(CLOSED_MAX, touch_closed);
		if (closed->next >= 0)
			touch_rest(scratch, EVENT_ROLE_CLOSED, closed->next, (__s64)(__u32)scratch->event.arguments[1] + 1);
	}
	drop_entry_set(scratch);
}

/* pipe and socketpair: sys_exit has seen both ends. */
static __always_inline void follow_pair(struct scratch *scratch)
{
	const struct syscall_event *event;
	__s32 ends[2];

	if (scratch->event.result < 0)
		return;
	event = &scratch->event;
	if (bpf_probe_read_user(ends, sizeof(ends), (void *)argument(event, shape_of(event->abi, event->syscall)->several)))
		return;
	touch(scratch, EVENT_ROLE_CREATED, ends[0], event->handle_id, 0);
	touch(scratch, EVENT_ROLE_CREATED, ends[1], event->handle2_id, 0);
}
