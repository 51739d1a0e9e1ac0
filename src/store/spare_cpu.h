// Whether this machine has a CPU to spare, for work that can wait.
#pragma once

#include <cstdint>
#include <string>

namespace dyetrace::store {

// Idle time of all CPUs since boot, in ticks (sysconf(_SC_CLK_TCK) to a second), waiting for a disk included; from the text of
// /proc/stat (proc(5)). 0 if it says nothing.
std::uint64_t idle_ticks(const std::string& proc_stat);

// Looks for a fifth of a second: true if CPUs were idle for nine tenths of that, added up, or if nobody can tell. The caller
// sleeps meanwhile, so that its own work does not count.
bool has_spare_cpu();

}  // namespace dyetrace::store
