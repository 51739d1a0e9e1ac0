// Registers by the names that assemblers give them, and where the kernel keeps each when a probe interrupts a program (struct pt_regs).
//
//   x86-64   "eax"  ─►  bytes 80 to 83          "ah"  ─►  bits 8 to 15 of what begins at 80
//   arm64    "w3"   ─►  bytes 24 to 27          "sp"  ─►  bytes 248 to 255
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "probes/machine.h"

namespace dyetrace::probes {

struct Register {
    std::uint32_t offset;          // in struct pt_regs
    std::uint32_t bytes;           // of the part that has this name
    std::uint32_t bit_offset = 0;  // of that part

    bool operator==(const Register&) const = default;
};

// None: it is no general register of this machine.
std::optional<Register> register_of(std::string_view name, Machine machine);

}  // namespace dyetrace::probes
