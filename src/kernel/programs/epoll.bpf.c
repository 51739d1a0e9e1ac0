/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handles epoll_ctl and epoll_wait, which hands back no descriptor but a word of the program's own.
 *
 *   word = descriptor     what most programs ask for: the kernel's list of the file's sets proves it, at epoll_wait
 *   any other word        epoll_ctl keeps what it stands for in `interests`; what was added before the recording, an
 *                         iterator over the open files of those who are watched
 *
 * Limits: a member that was added before, and whose file nobody who is watched has open any more, is not named; so is what
 * members_left stands for.
 */
#include "kernel/helpers/children.h"
#include "kernel/iterators.h"

#define EPOLL_SETS_MAX 64 /* that one open file is looked for in, from the latest on */
#define MEMBERSHIPS_MAX 4096 /* of one open file, when a recording begins */
#define INTERESTS_MAX 65536
#define MEMBERS_MAX (INTERESTS_MAX / 2) /* from before: what the map forgets first must not be one of them at once */

/* What an epoll descriptor was told to wait for, by the word that it hands back. */
struct interest_key {
	__u64 eventpoll; /* address */
	__u64 data;
};

struct interest {
	__u64 file; /* address */
	__s32 fd;
	__u32 handle_id; /* 0: from before the recording */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, INTERESTS_MAX);
	__type(key, struct interest_key);
	__type(value, struct interest);
} interests SEC(".maps");

/* What a descriptor of the current task keeps for itself: for epoll its struct eventpoll. */
static __always_inline __u64 private_data_of(__s32 fd)
{
	__u64 file = file_of(current_task(), fd);

	return file ? number_at(file + bpf_core_field_offset(struct file, private_data)) : 0;
}

static __always_inline __u64 data_of(const struct epoll_member *member)
{
	return member->data[0] | (__u64)member->data[1] << 32;
}

struct sets_walk {
	struct interest_key key;
	__s32 fd;
	bool found;
	struct hlist_node *link; /* looked at next */
};

static long look_at_set(__u32 index, void *context)
{
	struct sets_walk *walk = context;
	struct epitem *item;

	if (!walk->link)
		return 1;
	item = typed(epitem, (void *)walk->link - bpf_core_field_offset(struct epitem, fllink));
	walk->link = READ(item, fllink.next);
	walk->found = (__u64)READ(item, ep) == walk->key.eventpoll && READ(item, ffd.fd) == walk->fd &&
		      READ(item, event.data) == walk->key.data;
	return walk->found;
}

/*
 * Whether the kernel's own list says that this descriptor is a member of the set, with this word; exact, whatever the word
 * means. False also where the list cannot be read or is long. Most files are in one set.
 */
static __noinline bool is_member(__u64 file_address, const struct interest_key *key, __s32 fd)
{
	struct file *file = typed(file, file_address);
	struct sets_walk walk = { .key = *key, .fd = fd };

	if (!file_address || !bpf_core_field_exists(file->f_ep))
		return false;
	walk.link = READ(file, f_ep, first);
	if (!look_at_set(0, &walk))
		each_small_turn(EPOLL_SETS_MAX - 1, EPOLL_SETS_MAX - 1, look_at_set, &walk);
	return walk.found;
}

/*
 * Most programs have the descriptor itself handed back, and the kernel's list proves it at epoll_wait; only what is another
 * word, a pointer as a rule, has to be remembered.
 */
static __noinline void follow_epoll_ctl(struct scratch *scratch)
{
	struct interest interest = {}, *known;
	struct epoll_member member;
	struct interest_key key;

	if (scratch->event.result < 0)
		return;
	interest.fd = scratch->event.arguments[2];
	if (bpf_probe_read_user(&member, sizeof(member), (void *)scratch->event.arguments[3]))
		return;
	key.data = data_of(&member);
	if (key.data == (__u32)interest.fd && bpf_core_field_exists(((struct file *)0)->f_ep))
		return;
	key.eventpoll = private_data_of(scratch->event.arguments[0]);
	interest.file = file_of(current_task(), interest.fd);
	interest.handle_id = scratch->event.handle2_id;
	known = bpf_map_lookup_elem(&interests, &key);
	if (known && known->fd == interest.fd && known->file == interest.file)
		known->handle_id = interest.handle_id;
	else
		bpf_map_update_elem(&interests, &key, &interest, BPF_ANY);
}

/* A member whose descriptor is closed, or another process's. That it is still in the set proves that the file is open. */
static __always_inline __u32 handle_of(struct scratch *scratch, const struct interest *interest, const struct interest_key *key)
{
	if (!is_member(interest->file, key, interest->fd))
		return interest->handle_id;
	see_file(scratch, interest->file, 0);
	return scratch->seen.handle_id;
}

LOOP_BODY(touch_ready)
{
	struct scratch *scratch = cpu_scratch();
	struct interest_key key = {};
	struct epoll_member member;
	struct members_walk *walk;
	struct interest *interest;
	__u64 file;
	__s32 fd;

	if (!scratch)
		return 1;
	walk = &scratch->members;
	key.eventpoll = walk->eventpoll;
	if (bpf_probe_read_user(&member, sizeof(member), (void *)(walk->base + index * sizeof(member))))
		return 1;
	key.data = data_of(&member);
	fd = key.data;
	file = file_of(current_task(), fd);
	if (is_member(file, &key, fd)) {
		see_file(scratch, file, 0);
		touch(scratch, EVENT_ROLE_POLL, fd, scratch->seen.handle_id, member.events);
		return 0;
	}
	interest = bpf_map_lookup_elem(&interests, &key);
	if (!interest)
		touch(scratch, EVENT_ROLE_POLL, -1, 0, member.events);
	else if (file_of(current_task(), interest->fd) == interest->file)
		touch_descriptor(scratch, EVENT_ROLE_POLL, interest->fd, member.events);
	else
		touch(scratch, EVENT_ROLE_POLL, -1, handle_of(scratch, interest, &key), member.events);
	return 0;
}

static __always_inline void follow_epoll_wait(struct scratch *scratch)
{
	if (scratch->event.result <= 0)
		return;
	scratch->members.base = scratch->event.arguments[1];
	scratch->members.eventpoll = private_data_of(scratch->event.arguments[0]);
	walk_members(scratch, touch_ready, scratch->event.result, EVENT_ROLE_POLL);
}

/* What the iterator below found, for src/capture. */
__u32 members_kept;
bool members_left; /* there are more; how many is not known, because a file is seen once per descriptor */

struct membership_walk {
	__u64 file;
	__u64 link; /* address of the next one; 0: there is none */
};

static long keep_member(__u32 index, void *context)
{
	struct membership_walk *walk = context;
	struct epitem *item;
	struct interest_key key = {};
	struct interest interest = {};

	if (!walk->link)
		return 1;
	item = typed(epitem, walk->link - bpf_core_field_offset(struct epitem, fllink));
	walk->link = (__u64)READ(item, fllink.next);
	key.eventpoll = (__u64)READ(item, ep);
	key.data = READ(item, event.data);
	interest.file = walk->file;
	interest.fd = READ(item, ffd.fd);
	if (key.data == (__u32)interest.fd && index < EPOLL_SETS_MAX) /* is_member finds it */
		return 0;
	if (members_kept >= MEMBERS_MAX)
		members_left = true;
	else if (bpf_map_update_elem(&interests, &key, &interest, BPF_NOEXIST) == 0) /* a call that was seen knows better */
		members_kept++;
	return 0;
}

/* When a recording begins, each file that is open; those of one table of descriptors once. Uses no scratch: may be preempted. */
SEC("iter/task_file")
int find_members(struct bpf_iter__task_file *context)
{
	struct file *file = context->file;
	struct membership_walk walk = {};

	if (!file || !file->f_ep)
		return 0;
	walk.file = (__u64)file;
	walk.link = (__u64)READ(typed(hlist_head, file->f_ep), first);
	each_small_turn(MEMBERSHIPS_MAX, 16, keep_member, &walk);
	if (walk.link)
		members_left = true;
	return 0;
}
