#include "capture/blind_spots.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace dyetrace::capture {
namespace {

using schema::CoverageState;

constexpr BlindSpot kBlindSpots[] = {
    {"page faults",
     CoverageState::kOff,
     "reads and writes through a memory mapping are not seen; mmap itself is"},
    {"io_uring",
     CoverageState::kOff,
     "operations submitted to a ring are not seen; io_uring_enter itself is"},
    {"block layer", CoverageState::kOff, "which disk requests a call led to is not seen"},
    {"AIO",
     CoverageState::kPartial,
     "completions that a program takes from the ring in its own memory, without io_getevents, "
     "have no result"},
    {"MPTCP",
     CoverageState::kPartial,
     "calls are seen, but not where in the stream their bytes are: each subflow numbers its own"},
    {"seccomp",
     CoverageState::kPartial,
     "a call that it denies has no start and no duration, one that it kills for has no end"},
    {"ipc",
     CoverageState::kPartial,
     "this call of 32-bit programs is seen with the name of what it does (SEMOP, SHMAT), but not "
     "on which object"},
};

constexpr BlindSpot kX32 = {"x32",
                            CoverageState::kPartial,
                            "calls that have a number of their own there (readv, ioctl, execve) "
                            "are seen with name and result only"};

// Few kernels do; for the others it is nothing to miss. A filter of calls, as a service has (SystemCallArchitectures=native), may
// kill for such a call: then nobody asks, and it is named as what might be missed.
bool kernel_may_have_x32() {
#if defined(__x86_64__)
    if (prctl(PR_GET_SECCOMP) == SECCOMP_MODE_FILTER) {
        return true;
    }
    constexpr long kMark = 0x40000000;  // __X32_SYSCALL_BIT
    return syscall(kMark | SYS_getpid) == getpid();
#else
    return false;
#endif
}

}  // namespace

std::vector<BlindSpot> blind_spots() {
    std::vector<BlindSpot> spots(std::begin(kBlindSpots), std::end(kBlindSpots));
    if (kernel_may_have_x32()) {
        spots.push_back(kX32);
    }
    return spots;
}

}  // namespace dyetrace::capture
