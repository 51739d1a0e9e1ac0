/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handles fcntl: tells which bytes of the file it locked or let go. The lock is a structure in the program's memory;
 * nobody else sees it.
 */
#include "kernel/helpers/children.h"

enum {
	F_SETLK = 6, /* of a 32-bit program with 32-bit positions */
	F_SETLKW = 7,
	F_SETLK64 = 13, /* 32-bit programs only */
	F_SETLKW64 = 14,
	F_OFD_SETLK = 37,
	F_OFD_SETLKW = 38,
	F_RDLCK = 0,
	F_WRLCK = 1,
	F_UNLCK = 2
};

/* struct flock as far as it matters here, of any abi. */
struct file_lock {
	__s16 type, whence;
	__u32 padding;
	__s64 start, length;
};

static __always_inline bool sets_lock(const struct syscall_event *event)
{
	__u32 command = event->arguments[1];

	return command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW ||
	       (event->abi == ABI_COMPAT && (command == F_SETLK64 || command == F_SETLKW64));
}

static __always_inline bool read_lock(const struct syscall_event *event, struct file_lock *lock)
{
	__u32 command = event->arguments[1];
	void *user = (void *)event->arguments[2];
	__s32 words[5] = {}; /* struct compat_flock64: 4-aligned; struct compat_flock is its first word and two more */

	if (event->abi != ABI_COMPAT || (COMPAT_ALIGNS_LIKE_NATIVE && command > F_SETLKW))
		return bpf_probe_read_user(lock, sizeof(*lock), user) == 0;
	if (bpf_probe_read_user(words, command <= F_SETLKW ? 12 : sizeof(words), user))
		return false;
	lock->type = words[0];
	lock->whence = words[0] >> 16;
	lock->start = command <= F_SETLKW ? words[1] : (__u32)words[1] | (__s64)words[2] << 32;
	lock->length = command <= F_SETLKW ? words[2] : (__u32)words[3] | (__s64)words[4] << 32;
	return true;
}

static __noinline void follow_fcntl(struct scratch *scratch)
{
	struct event_object_fact *fact;
	struct file_lock lock = {};
	__s64 begin, end;

	if (scratch->event.result < 0 || !sets_lock(&scratch->event) || !read_lock(&scratch->event, &lock))
		return;
	begin = lock.start;
	if (lock.whence == SEEK_CUR)
		begin += scratch->seen.position; /* sys_exit has seen the file */
	else if (lock.whence == SEEK_END)
		begin += scratch->seen.size;
	end = lock.length ? begin + lock.length : -1; /* 0: to the end, however far that moves */
	if (lock.length < 0) { /* the bytes before it */
		end = begin;
		begin += lock.length;
	}
	fact = begin_touch(scratch,
			   lock.type == F_UNLCK	  ? EVENT_ROLE_UNLOCKED
			   : lock.type == F_RDLCK ? EVENT_ROLE_READ_LOCKED
						  : EVENT_ROLE_WRITE_LOCKED,
			   scratch->event.fd, begin, end);
	fact->handle_id = scratch->event.handle_id;
	write_touched(ref_of(scratch));
}
