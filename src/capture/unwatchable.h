// Why a process that somebody named cannot be watched: nobody has that number, it is a thread's, or the kernel hides who has it.
#pragma once

#include <sys/types.h>

#include "base/result.h"

namespace dyetrace::capture {

// Of a number of which the kernel showed no task.
Error unwatchable(pid_t process);

}  // namespace dyetrace::capture
