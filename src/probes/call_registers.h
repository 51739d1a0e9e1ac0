// Which register of arguments a C or C++ compiler passes each argument in.
//
//   long f(double factor, long count, struct pair two_longs, struct large in_memory, char* text)
//   x86-64  ─              0           1 and 2                 ─                       3
//   arm64   ─              0           1 and 2                 3: its address          4
//
// Asked for each argument in their order. 0 is rdi or x0; x86-64 has six, arm64 has eight.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "probes/machine.h"

namespace dyetrace::probes {

struct ArgumentPlace {
    enum class Kind : std::uint8_t { kValue, kAddress, kNowhere };
    Kind kind = Kind::kNowhere;
    int number = 0;
    std::string_view why;  // it cannot be read

    bool operator==(const ArgumentPlace&) const = default;
};

class CallRegisters {
  public:
    // On x86-64 a large result takes the first register: it holds where the result goes.
    CallRegisters(Machine machine, const std::optional<Dwarf_Die>& result_type);

    ArgumentPlace next(const std::optional<Dwarf_Die>& type);

  private:
    ArgumentPlace take(int count, ArgumentPlace::Kind kind);
    ArgumentPlace next_structure(Dwarf_Die type);

    Machine machine_;
    int used_ = 0;
};

}  // namespace dyetrace::probes
