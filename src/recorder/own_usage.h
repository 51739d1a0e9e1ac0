// What the recorder itself took from the machine.
#pragma once

#include <cstdint>

namespace dyetrace::recorder {

std::uint64_t own_cpu_ns();        // of all its threads
std::uint64_t own_memory_bytes();  // at its peak

}  // namespace dyetrace::recorder
