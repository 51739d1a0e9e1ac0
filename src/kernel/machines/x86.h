/* SPDX-License-Identifier: GPL-2.0 */
/* x86-64, its 32-bit programs, and x32: where a call's number and arguments are. */
#pragma once

struct pt_regs {
	unsigned long bx, cx, dx, si, di, bp, r8, r9, r10, orig_ax, sp;
} __attribute__((preserve_access_index));

#define TS_COMPAT 2
#define KERNEL_STACK_BYTES 16384 /* THREAD_SIZE, but with KASAN */
#define X32_SYSCALL_BIT 0x40000000
#define COMPAT_ALIGNS_LIKE_NATIVE false /* numbers of 8 bytes in the structures of 32-bit programs */

/* struct epoll_event as programs give and get it: packed, which the compiler would read byte by byte. */
struct epoll_member {
	__u32 events;
	__u32 data[2];
};

static __always_inline __u64 number_in(struct pt_regs *regs)
{
	return LOAD(regs, orig_ax);
}

static __always_inline __u64 stack_in(struct pt_regs *regs)
{
	return LOAD(regs, sp);
}

/* Of a call that is not one of a 32-bit program. */
static __always_inline __u64 first_argument(struct pt_regs *regs)
{
	return LOAD(regs, di);
}

/* Abi of the call in these registers; its number without the mark of x32, one that no call can have is NUMBER_MAX. */
static __always_inline __u32 abi_of(struct task_struct *task, __u64 *number)
{
	__u32 abi = LOAD(task, thread_info.status) & TS_COMPAT ? ABI_I386 : ABI_X86_64;
	__u32 n = *number;

	if (abi == ABI_X86_64 && (n & X32_SYSCALL_BIT) && n - X32_SYSCALL_BIT < NUMBER_MAX) {
		abi = ABI_X32;
		n -= X32_SYSCALL_BIT;
	}
	*number = n < NUMBER_MAX ? n : NUMBER_MAX;
	return abi;
}

static __read_inline void read_arguments(__u64 *arguments, struct pt_regs *regs, __u32 abi)
{
	if (abi == ABI_I386) {
		arguments[0] = (__u32)LOAD(regs, bx);
		arguments[1] = (__u32)LOAD(regs, cx);
		arguments[2] = (__u32)LOAD(regs, dx);
		arguments[3] = (__u32)LOAD(regs, si);
		arguments[4] = (__u32)LOAD(regs, di);
		arguments[5] = (__u32)LOAD(regs, bp);
		return;
	}
	arguments[0] = LOAD(regs, di);
	arguments[1] = LOAD(regs, si);
	arguments[2] = LOAD(regs, dx);
	arguments[3] = LOAD(regs, r10);
	arguments[4] = LOAD(regs, r8);
	arguments[5] = LOAD(regs, r9);
}

/* The flags of an open file, as events of all machines number them. */
static __always_inline __u32 common_open_flags(__u32 flags)
{
	return flags;
}
