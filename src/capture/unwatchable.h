// Why a process that somebody named cannot be watched: nobody has that number, it is a thread's, or the kernel hides who has it.
#pragma once

#include <sys/types.h>

#include "base/result.h"

namespace dyetrace::capture {

// Says why nothing with this number can be watched, when the kernel showed no task of it.
Error unwatchable(pid_t process);

}  // namespace dyetrace::capture
