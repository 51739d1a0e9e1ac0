/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tp_btf/signal_deliver: a signal that a watched thread is about to handle, or that ends or stops it. What a program ignores
 * is dropped when it is sent, but comes here where it was blocked then (glibc's fork blocks all for a moment): it is left out.
 *
 * A signal that ends a process is not delivered as itself: the kernel gives a SIGKILL without a siginfo to each thread and
 * keeps the number in group_exit_code. Its siginfo may still be queued; the first thread that comes by writes the event, the
 * others nothing. They get the same SIGKILL when one of them calls exit_group or execve, which is no signal at all.
 */
#include "kernel/helpers/task.h"
#include "kernel/programs/begin_and_end.h"

#define SIGILL 4
#define SIGTRAP 5
#define SIGBUS 7
#define SIGFPE 8
#define SIGSEGV 11
#define SIGCHLD 17
#define SIGCONT 18
#define SIGSTOP 19
#define SIGTSTP 20
#define SIGTTIN 21
#define SIGTTOU 22
#define SIGURG 23
#define SIGWINCH 28
#define SIGSYS 31
#define SI_USER 0
#define SI_KERNEL 0x80
#define SI_TIMER -2
#define SI_SIGIO -5
#define SIGINFO_ADDRESS_MIN 2 /* SEND_SIG_NOINFO and SEND_SIG_PRIV */
#define SIGNAL_GROUP_EXIT 4 /* signal_struct.flags */
#define HANDLER_IGNORES 1 /* SIG_IGN */
#define SIGNAL_MASK 0x7f /* of an exit code */
#define QUEUED_MAX 32 /* signals that are looked through for the one that ends the process */

static __always_inline bool is_one_of(__u32 signal, __u32 signals)
{
	return signal < 32 && signals & 1u << signal;
}

static const __u32 faults = 1u << SIGILL | 1u << SIGTRAP | 1u << SIGBUS | 1u << SIGFPE | 1u << SIGSEGV | 1u << SIGSYS;
static const __u32 ignored_by_default = 1u << SIGCHLD | 1u << SIGCONT | 1u << SIGURG | 1u << SIGWINCH;
static const __u32 not_fatal = ignored_by_default | 1u << SIGSTOP | 1u << SIGTSTP | 1u << SIGTTIN | 1u << SIGTTOU;

static __always_inline void fill_sender(struct signal_event *event, const struct kernel_siginfo *info)
{
	event->sender_pid = BPF_CORE_READ(info, _sifields._kill._pid);
	event->sender_uid = BPF_CORE_READ(info, _sifields._kill._uid);
	event->present |= SIGNAL_HAS_SENDER;
}

/* What the kernel itself says of some signals. */
static __always_inline void fill_cause(struct signal_event *event, const struct kernel_siginfo *info)
{
	if (event->signal == SIGCHLD) {
		fill_sender(event, info);
		event->status = BPF_CORE_READ(info, _sifields._sigchld._status);
		event->user_ticks = BPF_CORE_READ(info, _sifields._sigchld._utime);
		event->system_ticks = BPF_CORE_READ(info, _sifields._sigchld._stime);
		event->present |= SIGNAL_HAS_CHILD;
	} else if (is_one_of(event->signal, faults)) {
		event->address = (__u64)BPF_CORE_READ(info, _sifields._sigfault._addr);
		event->present |= SIGNAL_HAS_ADDRESS;
	}
}

/* Which members a siginfo has is what its code says, as the kernel's siginfo_layout(). */
static __always_inline void fill_siginfo(struct signal_event *event, __u64 address)
{
	const struct kernel_siginfo *info = (void *)address;

	event->code = BPF_CORE_READ(info, si_code);
	event->present |= SIGNAL_HAS_CODE;
	if (event->code > SI_USER) {
		if (event->code != SI_KERNEL)
			fill_cause(event, info);
		return;
	}
	if (event->code == SI_SIGIO)
		return;
	if (event->code == SI_TIMER) {
		event->timer = BPF_CORE_READ(info, _sifields._timer._tid);
		event->overrun = BPF_CORE_READ(info, _sifields._timer._overrun);
		event->value = (__u64)BPF_CORE_READ(info, _sifields._timer._sigval.sival_ptr);
		event->present |= SIGNAL_HAS_TIMER | SIGNAL_HAS_VALUE;
		return;
	}
	fill_sender(event, info);
	if (event->code < SI_USER) {
		event->value = (__u64)BPF_CORE_READ(info, _sifields._rt._sigval.sival_ptr);
		event->present |= SIGNAL_HAS_VALUE;
	}
}

struct queue_walk {
	struct list_head *at; /* looked at next */
	struct list_head *queue;
	__u64 siginfo; /* 0: not found yet */
	__u32 signal;
};

static long look_at_queued(__u32 index, void *context)
{
	struct queue_walk *walk = context;
	struct list_head *at = walk->at;
	struct sigqueue *entry = (void *)at - bpf_core_field_offset(struct sigqueue, list);

	if (!at || at == walk->queue)
		return 1;
	if ((__u32)BPF_CORE_READ(entry, info.si_signo) == walk->signal) {
		walk->siginfo = (__u64)entry + bpf_core_field_offset(struct sigqueue, info);
		return 1;
	}
	walk->at = BPF_CORE_READ(at, next);
	return 0;
}

/* The siginfo of a signal that is in the queue; 0: it has none there. */
static __noinline __u64 queued_siginfo(struct list_head *queue, __u32 signal)
{
	struct queue_walk walk = { .at = BPF_CORE_READ(queue, next), .queue = queue, .signal = signal };

	each_small_turn(QUEUED_MAX, QUEUED_MAX, look_at_queued, &walk);
	return walk.siginfo;
}

#ifdef WITHOUT_LOOPS /* before 5.12 there is no instruction that sets a bit and tells what it was; a map takes a key once */
struct dying_key {
	__u64 start_ns;
	__u64 pid;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct dying_key);
	__type(value, __u8);
} dying SEC(".maps");

/* True for the first thread of a process that asks. */
static __always_inline bool is_first_to_die(struct task_struct *task, struct task_state *state)
{
	struct dying_key key = { .start_ns = LOAD(task, group_leader, start_boottime), .pid = LOAD(task, tgid) };
	__u8 told = 1;

	return bpf_map_update_elem(&dying, &key, &told, BPF_NOEXIST) == 0;
}
#else
/* True for the first thread of a process that asks. */
static __always_inline bool is_first_to_die(struct task_struct *task, struct task_state *state)
{
	struct task_state *of_process = kept_state(LOAD(task, group_leader));

	return !__sync_fetch_and_or(of_process ? &of_process->killed : &state->killed, 1);
}
#endif

SEC("tp_btf/signal_deliver")
int HOLDING_PROGRAM(signal_deliver, int signal, struct kernel_siginfo *info, struct k_sigaction *action)
{
	struct task_struct *current = this_task(), *task = typed(task_struct, current);
	struct task_state *state = watched_state(current);
	struct ring_control *control = ring_control(STREAM_EVENTS);
	struct scratch *scratch = cpu_scratch();
	struct signal_event event = {};
	__u64 siginfo, handler;

	if (!state || !control || !scratch || count_only)
		return 0;
	event.signal = signal;
	siginfo = number_of(scratch, info);
	if (siginfo < SIGINFO_ADDRESS_MIN) { /* the process ends */
		event.signal = LOAD(task, signal, group_exit_code) & SIGNAL_MASK;
		if (!(LOAD(task, signal, flags) & SIGNAL_GROUP_EXIT) || !event.signal || !is_first_to_die(current, state))
			return 0;
		siginfo = queued_siginfo(&LOAD(task, signal)->shared_pending.list, event.signal);
		if (!siginfo)
			siginfo = queued_siginfo(&task->pending.list, event.signal);
	} else {
		handler = (__u64)BPF_CORE_READ(action, sa.sa_handler);
		if (handler == HANDLER_IGNORES || (!handler && is_one_of(signal, ignored_by_default)))
			return 0; /* it was blocked when it was sent */
		if (!handler && !is_one_of(signal, not_fatal))
			is_first_to_die(current, state); /* the other threads have nothing to add */
	}
	control->generated++;
	if (!context_is_current(state, task))
		announce_context(state, task, scratch);
	event.header.type = RECORD_SIGNAL_EVENT;
	event.header.flags = RECORD_MAY_BE_SKIPPED;
	event.start_ns = bpf_ktime_get_boot_ns();
	event.context_id = state->context_id;
	if (siginfo)
		fill_siginfo(&event, siginfo);
	emit(STREAM_EVENTS, &event.header, sizeof(event));
	return 0;
}
