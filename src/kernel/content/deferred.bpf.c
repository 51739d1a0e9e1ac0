/* SPDX-License-Identifier: GPL-2.0 */
/* A call that is looked at by its own task, after it ended and before it returns to its program: see deferred.h. */
#include "kernel/content/byte_walk.h"
#include "kernel/helpers/children.h"
#include "kernel/content/content.h"
#include "kernel/content/deferred.h"
#include "kernel/content/parts.h"

/* A program's function as work of a task, done before it returns to its program; may sleep. Since 6.18. */
struct bpf_task_work {
	__u64 kernels_own;
};
struct bpf_map {
};
typedef int task_work_function(struct bpf_map *map, void *key, void *value);
/* The name that the kernel has, or none: libbpf looks for what its own types lack among those of modules, which needs more than CAP_BPF. */
#if defined(WITHOUT_TASK_WORK)
#define schedule_work(task, work, map, function) ((void)(task), (void)(function), -1)
#elif defined(BY_PERF)
extern int bpf_task_work_schedule_resume(struct task_struct *task, struct bpf_task_work *work, void *map,
					 task_work_function *function) __ksym __weak;
#define schedule_work(task, work, map, function) bpf_task_work_schedule_resume(task, work, map, function)
#else
extern int bpf_task_work_schedule_resume_impl(struct task_struct *task, struct bpf_task_work *work, void *map,
					      task_work_function *function, void *program) __ksym __weak;
#define schedule_work(task, work, map, function) bpf_task_work_schedule_resume_impl(task, work, map, function, NULL)
#endif

#define VM_PFNMAP 0x400
#define VM_IO 0x4000 /* a device, which may notice that it is read */
#define PLACES_TRIED 8
#define MAPPINGS_BUSY (-16) /* EBUSY */
#define PAGES_MAX (1 << 20) /* of 2 GiB, and iovecs that end in the midst of one */

struct deferred_call {
	struct bpf_task_work work;
	__u32 taken;
	__u32 reserved;
	__u64 mm;
	struct messages_walk messages; /* if it has some */
	struct syscall_event event;
	__u8 attachments[sizeof(((struct scratch *)0)->event_attachments)];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* src/capture: DEFERRED_MAX */
	__type(key, __u32);
	__type(value, struct deferred_call);
} deferred_calls SEC(".maps");

__s64 calls_deferred; /* that are not written yet */
bool nobody_waits; /* set when src/capture has counted these as lost */

static long see_mapping(struct task_struct *task, struct vm_area_struct *mapping, void *context)
{
	bool *plain = context;

	*plain = !(mapping->vm_flags & (VM_IO | VM_PFNMAP));
	if (bpf_core_field_exists(mapping->vm_userfaultfd_ctx.ctx) && mapping->vm_userfaultfd_ctx.ctx)
		*plain = false;
	return 0;
}

/*
 * bpf_find_vma() gives up if somebody changes the program's mappings, or waits to. The page is then brought in as a debugger's would be, which
 * waits for the mappings and needs not know of what kind this one is: such an access never waits for userfaultfd (access_process_vm() faults
 * without FAULT_FLAG_ALLOW_RETRY). It is second, for it keeps the mappings from being changed while it waits for a disk.
 */
static __always_inline void bring_page(const struct byte_walk *walk)
{
	struct task_struct *task = bpf_get_current_task_btf();
	bool plain = false;
	__u8 byte;

	if (bpf_find_vma(task, walk->piece, see_mapping, &plain, 0) == MAPPINGS_BUSY)
		bpf_copy_from_user_task(&byte, sizeof(byte), (void *)walk->piece, task, 0);
	else if (plain)
		bpf_copy_from_user(&byte, sizeof(byte), (void *)walk->piece);
}

/* A page, or the next iovec. What cannot be read stays as it is. */
static long touch_page(__u32 index, void *context)
{
	struct byte_walk *walk = context;
	__u64 part[2] = {};
	__u32 bytes;
	__u8 byte;

	if (!walk->left)
		return 1;
	if (!walk->piece_bytes) {
		if (!walk->parts || bpf_copy_from_user(part, iovec_bytes(walk), (void *)walk->vector))
			return 1;
		take_iovec(walk, part);
		return 0;
	}
	if (bpf_probe_read_user(&byte, sizeof(byte), (void *)walk->piece))
		bring_page(walk);
	bytes = piece_to_take(walk, PAGE_BYTES - (walk->piece & (PAGE_BYTES - 1)));
	end_piece(walk, bytes);
	return 0;
}

static long touch_part(__u32 index, void *context)
{
	const struct deferred_call *call = *(struct deferred_call **)context;
	struct byte_walk walk;

	if (!find_part_bytes(&walk, &call->event, call->mm, index))
		return 1;
	each_small_turn(PAGES_MAX, 1, touch_page, &walk);
	return 0;
}

/* Not inlined: its walk would lie on the stack of all that looks at the bytes. */
static __noinline void touch_bytes(struct deferred_call *call)
{
	const struct syscall_event *event = &call->event;
	const volatile struct syscall_shape *shape = shape_of(event->abi, event->syscall);
	struct byte_walk walk;

	if (moves_in_parts(shape->special)) {
		each_small_turn(event->result < TOUCHED_MAX ? event->result : TOUCHED_MAX, 1, touch_part, &call);
		return;
	}
	begin_walk(&walk, event->bytes);
	if (find_bytes(&walk, event, shape))
		each_small_turn(PAGES_MAX, 1, touch_page, &walk);
}

/* On any CPU, whose scratch nobody else uses as long as preemption is off. */
static __always_inline void write_deferred(struct deferred_call *call)
{
	struct ring_control *control = ring_control(STREAM_EVENTS);
	struct scratch *scratch = cpu_scratch();
	__u32 size = sizeof(call->event) + call->event.attachments, special;

	opaque(size);
	if (!scratch || !control || nobody_waits || size > sizeof(scratch->event) + sizeof(scratch->event_attachments))
		return;
	control->generated++;
	bpf_probe_read_kernel(&scratch->event, size, &call->event);
	special = shape_of(scratch->event.abi, scratch->event.syscall)->special;
	if (!moves_in_parts(special))
		look_at_content(ref_of(scratch), false);
	if (!write_with_finds(scratch))
		return;
	if (special == SPECIAL_SENDMSG || special == SPECIAL_RECVMSG)
		write_passed(ref_of(scratch));
	else if (special == SPECIAL_SENDMMSG || special == SPECIAL_RECVMMSG) {
		scratch->messages = call->messages;
		write_messages(scratch);
	} else if (special == SPECIAL_IO_GETEVENTS)
		write_completions(scratch, call->mm);
}

static int look_deferred(struct bpf_map *map, void *key, void *value)
{
	struct deferred_call *call = value;

	touch_bytes(call);
	bpf_preempt_disable();
	write_deferred(call);
	bpf_preempt_enable();
	__sync_fetch_and_add(&calls_deferred, -1);
	__sync_lock_test_and_set(&call->taken, 0);
	return 0;
}

/*
 * A place, and look_deferred() as work of this task, which comes when it returns to its program. NULL: none is free. One that its last call gave back a
 * moment ago may be the kernel's still (EBUSY).
 */
static __always_inline struct deferred_call *take_place(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 first = bpf_get_current_pid_tgid(), place;
	struct deferred_call *call;

	for (__u32 i = 0; i < PLACES_TRIED; i++) {
		place = (first + i) % DEFERRED_MAX;
		call = bpf_map_lookup_elem(&deferred_calls, &place);
		if (!call || __sync_val_compare_and_swap(&call->taken, 0, 1))
			continue;
		if (!schedule_work(task, &call->work, &deferred_calls, look_deferred))
			return call;
		__sync_lock_test_and_set(&call->taken, 0);
	}
	return NULL;
}

static __noinline bool defer(struct scratch *scratch)
{
	struct ring_control *control = ring_control(STREAM_EVENTS);
	struct deferred_call *call;
	__u32 size, special;

	if (!scratch || !control)
		return false;
	size = sizeof(scratch->event) + scratch->event.attachments;
	opaque(size);
	if (size > sizeof(call->event) + sizeof(call->attachments))
		return false;
	__sync_fetch_and_add(&calls_deferred, 1);
	call = take_place();
	if (!call) {
		__sync_fetch_and_add(&calls_deferred, -1);
		return false;
	}
	bpf_probe_read_kernel(&call->event, size, &scratch->event);
	call->mm = mm_of(scratch, current_task());
	special = shape_of(scratch->event.abi, scratch->event.syscall)->special;
	if (special == SPECIAL_SENDMMSG || special == SPECIAL_RECVMMSG) {
		begin_messages(scratch);
		call->messages = scratch->messages;
	}
	control->generated--; /* it will be where it is written */
	return true;
}
