/* SPDX-License-Identifier: GPL-2.0 */
/* arm64 and its 32-bit programs (EABI): where a call's number and arguments are. */
#pragma once

struct pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 orig_x0; /* the first argument: at the exit regs[0] is the result */
	__s32 syscallno;
} __attribute__((preserve_access_index));

#define TIF_32BIT (1 << 22)
#define KERNEL_STACK_BYTES 16384 /* THREAD_SIZE with pages of 4 KiB */
#define COMPAT_ALIGNS_LIKE_NATIVE true /* numbers of 8 bytes in the structures of 32-bit programs */

/* struct epoll_event as programs give and get it. */
struct epoll_member {
	__u32 events;
	__u32 padding;
	__u32 data[2];
};

static __always_inline __u64 number_in(struct pt_regs *regs)
{
	return (__s64)LOAD(regs, syscallno);
}

static __always_inline __u64 stack_in(struct pt_regs *regs)
{
	return LOAD(regs, sp);
}

/* Of a call that is not one of a 32-bit program. */
static __always_inline __u64 first_argument(struct pt_regs *regs)
{
	return LOAD(regs, orig_x0);
}

/* Abi of the call in these registers; one that no call can have is NUMBER_MAX. */
static __always_inline __u32 abi_of(struct task_struct *task, __u64 *number)
{
	__u32 n = *number;

	*number = n < NUMBER_MAX ? n : NUMBER_MAX;
	return LOAD(task, thread_info.flags) & TIF_32BIT ? ABI_ARM : ABI_ARM64;
}

static __always_inline __u32 skipped_register(__u32 number)
{
	switch (number) {
		SKIPPED_REGISTERS
	}
	return 6;
}

static __read_inline void read_arguments(__u64 *arguments, struct pt_regs *regs, __u32 abi)
{
	arguments[0] = LOAD(regs, orig_x0);
	arguments[1] = LOAD(regs, regs[1]);
	arguments[2] = LOAD(regs, regs[2]);
	arguments[3] = LOAD(regs, regs[3]);
	arguments[4] = LOAD(regs, regs[4]);
	arguments[5] = LOAD(regs, regs[5]);
	if (abi == ABI_ARM) {
		__u32 skipped = skipped_register(LOAD(regs, syscallno));

		opaque(skipped);
#pragma unroll
		for (__u32 i = 0; i < 6; i++)
			arguments[i] = (__u32)arguments[i < 5 && i >= skipped ? i + 1 : i];
	}
}

/*
 * The flags of an open file, as events of all machines number them, which is as x86 does: there O_DIRECT and O_LARGEFILE are the bits
 * that here are O_DIRECTORY and O_NOFOLLOW, and the other way round.
 */
static __always_inline __u32 common_open_flags(__u32 flags)
{
	return (flags & ~0x3c000) | (flags & 0xc000) << 2 | (flags & 0x30000) >> 2;
}
