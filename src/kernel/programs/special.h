/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls (enum syscall_special) whose entry goes on in the program `prepare`, whose exit in `follow`, and which function does it there.
 */
#pragma once

#include "schema/generated/syscalls.bpf.h"

#define PREPARED_CALLS(CALL)                                                                                                     \
	CALL(CLOSE_RANGE, prepare_close_range)                                                                                   \
	CALL(COPY, prepare_copy)                                                                                                 \
	CALL(EXEC, prepare_exec)                                                                                                 \
	CALL(IO_SUBMIT, prepare_io_submit)                                                                                       \
	CALL(KILL, prepare_kill)                                                                                                 \
	CALL(MAPPING, prepare_mapping)                                                                                           \
	CALL(PIDFD, prepare_pidfd)                                                                                               \
	CALL(RECVMMSG, prepare_recvmmsg)                                                                                         \
	CALL(REMOVE, prepare_names)                                                                                              \
	CALL(RENAME, prepare_names)                                                                                              \
	CALL(SELECT, prepare_select)                                                                                             \
	CALL(SPLICE, prepare_copy)

#define FOLLOWED_CALLS(CALL)                                                                                                     \
	CALL(CLOSE_RANGE, follow_close_range)                                                                                    \
	CALL(EPOLL_CTL, follow_epoll_ctl)                                                                                        \
	CALL(EPOLL_WAIT, follow_epoll_wait)                                                                                      \
	CALL(FCNTL, follow_fcntl)                                                                                                \
	CALL(IOCTL, follow_ioctl)                                                                                                \
	CALL(IO_GETEVENTS, follow_io_getevents)                                                                                  \
	CALL(IO_SUBMIT, follow_io_submit)                                                                                        \
	CALL(PAIR, follow_pair)                                                                                                  \
	CALL(POLL, follow_poll)                                                                                                  \
	CALL(QUEUE, follow_queue)                                                                                                \
	CALL(RECVMMSG, follow_messages)                                                                                          \
	CALL(RECVMSG, follow_message)                                                                                            \
	CALL(RENAME, follow_rename)                                                                                              \
	CALL(SELECT, follow_select)                                                                                              \
	CALL(SENDMMSG, follow_messages)                                                                                          \
	CALL(SENDMSG, follow_message)

#define SPECIAL_BIT(special, function) | 1ull << SPECIAL_##special

static __always_inline bool is_prepared(__u32 special)
{
	return (0 PREPARED_CALLS(SPECIAL_BIT)) >> special & 1;
}

static __always_inline bool is_followed(__u32 special)
{
	return (0 FOLLOWED_CALLS(SPECIAL_BIT)) >> special & 1;
}
