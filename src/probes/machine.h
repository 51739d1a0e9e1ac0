// The processors whose programs are traced, and which of them this one is.
#pragma once

#include <cstdint>

namespace dyetrace::probes {

enum class Machine : std::uint8_t { kX86_64, kArm64 };

#if defined(__aarch64__)
inline constexpr Machine kThisMachine = Machine::kArm64;
#else
inline constexpr Machine kThisMachine = Machine::kX86_64;
#endif

}  // namespace dyetrace::probes
