/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handles ioctl: tells which bytes of which file it changed, without a call that moves bytes, and of which file it took them. What changes
 * and how far is in the command, or in a structure in the program's memory.
 *
 * Limits: of what exchanges ranges, and of what is rare, the whole file counts as changed.
 */
#include "kernel/helpers/children.h"

/* Those of 32-bit programs on x86 have a structure of 4 bytes less. */
enum ioctl_command {
	FICLONE = 0x40049409,
	FICLONERANGE = 0x4020940d,
	FS_IOC_UNRESVSP = 0x40305829,
	FS_IOC_UNRESVSP64 = 0x4030582b,
	FS_IOC_ZERO_RANGE = 0x40305839,
	FS_IOC_UNRESVSP_32 = 0x402c5829,
	FS_IOC_UNRESVSP64_32 = 0x402c582b,
	FS_IOC_ZERO_RANGE_32 = 0x402c5839,
	EXT4_IOC_MOVE_EXT = 0xc028660f,
	EXT4_IOC_SWAP_BOOT = 0x6611,
	XFS_IOC_SWAPEXT = 0xc0c0586d,
	XFS_IOC_EXCHANGE_RANGE = 0x40285881,
	XFS_IOC_COMMIT_RANGE = 0x40585883,
	F2FS_IOC_ABORT_ATOMIC_WRITE = 0xf505,
	F2FS_IOC_MOVE_RANGE = 0xc020f509,
	F2FS_IOC_SEC_TRIM_FILE = 0x4018f514,
	BTRFS_IOC_ENCODED_WRITE = 0x40809440,
	CIFS_IOC_COPYCHUNK_FILE = 0x4004cf03,
	BLKDISCARD = 0x1277,
	BLKSECDISCARD = 0x127d,
	BLKZEROOUT = 0x127f,
	BLKRESETZONE = 0x40101283,
};

/* Of a range: -1 as its end is the file's. */
static __always_inline void touch_range(struct scratch *scratch, __u8 role, __u32 handle_id, __s32 fd, __s64 begin, __s64 end)
{
	begin_touch(scratch, role, fd, begin, end)->handle_id = handle_id;
	write_touched(ref_of(scratch));
}

static __always_inline void touch_own(struct scratch *scratch, __u32 handle_id, __u64 begin, __u64 bytes)
{
	touch_range(scratch, EVENT_ROLE_CHANGED, handle_id, scratch->event.fd, begin, bytes ? begin + bytes : -1);
}

/* Another file, which the structure names, has other bytes, too. */
static __always_inline void touch_other(struct scratch *scratch, __s32 fd)
{
	see_file(scratch, file_of(current_task(), fd), 0);
	touch_range(scratch, EVENT_ROLE_CHANGED, scratch->seen.handle_id, fd, 0, -1);
}

/* So many bytes of that file are now at `to` of its own, too; 0: as many as that one has. */
static __always_inline void touch_copy(struct scratch *scratch, __u32 handle_id, __u64 to, __s32 fd, __u64 from, __u64 bytes)
{
	see_file(scratch, file_of(current_task(), fd), 0);
	if (!bytes && scratch->seen.size > (__s64)from)
		bytes = scratch->seen.size - from;
	touch_range(scratch, EVENT_ROLE_COPIED, scratch->seen.handle_id, fd, from, from + bytes);
	touch_own(scratch, handle_id, to, bytes);
}

/* struct space_resv, whose numbers stand 4 bytes earlier where 64 bits are aligned to 4. */
static __always_inline void change_space(struct scratch *scratch, __u32 handle_id, const __u64 *words)
{
	bool packed = (scratch->event.arguments[1] >> 16 & 0xff) == 0x2c;
	__u64 start = packed ? words[0] >> 32 | words[1] << 32 : words[1],
	      bytes = packed ? words[1] >> 32 | words[2] << 32 : words[2];
	__s16 whence = words[0] >> 16;

	if (whence == SEEK_CUR)
		start += scratch->seen.position; /* sys_exit has seen the file */
	else if (whence == SEEK_END)
		start += scratch->seen.size;
	touch_own(scratch, handle_id, start, bytes);
}

static __noinline void follow_ioctl(struct scratch *scratch)
{
	struct syscall_event *event = &scratch->event;
	__u32 own = event->handle_id;
	__u64 words[4] = {};

	if (event->result < 0)
		return;
	/* what is a number, or cannot be read, is no structure: the whole file */
	bpf_probe_read_user(words, sizeof(words), (void *)event->arguments[2]);
	switch ((__u32)event->arguments[1]) {
	case FICLONE:
	case CIFS_IOC_COPYCHUNK_FILE:
		touch_copy(scratch, own, 0, event->arguments[2], 0, 0);
		break;
	case FICLONERANGE: /* descriptor, where, how much, to where */
		touch_copy(scratch, own, words[3], words[0], words[1], words[2]);
		break;
	case FS_IOC_UNRESVSP:
	case FS_IOC_UNRESVSP64:
	case FS_IOC_ZERO_RANGE:
	case FS_IOC_UNRESVSP_32:
	case FS_IOC_UNRESVSP64_32:
	case FS_IOC_ZERO_RANGE_32:
		change_space(scratch, own, words);
		break;
	case BLKDISCARD:
	case BLKSECDISCARD:
	case BLKZEROOUT:
		touch_own(scratch, own, words[0], words[1]);
		break;
	case EXT4_IOC_MOVE_EXT: /* its own file has other blocks, with the same bytes */
		touch_other(scratch, words[0] >> 32);
		break;
	case XFS_IOC_SWAPEXT: /* the third number of its structure */
		touch_own(scratch, own, 0, 0);
		touch_other(scratch, words[2]);
		break;
	case XFS_IOC_EXCHANGE_RANGE:
	case XFS_IOC_COMMIT_RANGE:
	case F2FS_IOC_MOVE_RANGE:
		touch_own(scratch, own, 0, 0);
		touch_other(scratch, words[0]);
		break;
	case EXT4_IOC_SWAP_BOOT:
	case F2FS_IOC_ABORT_ATOMIC_WRITE:
	case F2FS_IOC_SEC_TRIM_FILE:
	case BTRFS_IOC_ENCODED_WRITE:
	case BLKRESETZONE:
		touch_own(scratch, own, 0, 0);
		break;
	}
}
