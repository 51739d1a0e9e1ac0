// Calls that machines newer than x86-64 have no number of, as openat says all that open does. A test that makes one, or expects the C library to, begins with
// NEEDS_OLD_CALLS() and is left out there.
#pragma once

#include <gtest/gtest.h>
#include <sys/syscall.h>

#ifdef SYS_open
#define NEEDS_OLD_CALLS()
constexpr bool kHasOldCalls = true;
#else
constexpr bool kHasOldCalls = false;
#define NEEDS_OLD_CALLS() GTEST_SKIP() << "this machine has no such calls"
enum {
    SYS_open = -1,
    SYS_stat = -1,
    SYS_lstat = -1,
    SYS_access = -1,
    SYS_pipe = -1,
    SYS_select = -1,
    SYS_fork = -1,
    SYS_getdents = -1,
    SYS_rename = -1,
    SYS_mkdir = -1,
    SYS_rmdir = -1,
    SYS_creat = -1,
    SYS_link = -1,
    SYS_unlink = -1,
    SYS_symlink = -1,
    SYS_readlink = -1,
    SYS_chmod = -1,
    SYS_chown = -1,
    SYS_lchown = -1,
    SYS_pause = -1,
    SYS_inotify_init = -1,
    SYS_eventfd = -1,
    SYS_signalfd = -1,
    SYS_utime = -1,
    SYS_utimes = -1,
    SYS_futimesat = -1,
    SYS_mknod = -1,
};
#endif
