// Waiting for what runs in the kernel.
#pragma once

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace dyetrace::capture {

// Returns when every program that ran on any CPU has ended: the call waits for a grace period of RCU, which such a program
// holds up. What it wrote is in its ring, in the accounting and in maps then, and it reads no longer what it was reading.
inline void wait_for_running_programs() {
    ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

}  // namespace dyetrace::capture
