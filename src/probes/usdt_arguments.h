// The arguments of a mark (USDT), from the text that its note has of them.
//
//   x86-64   -4@%eax             register eax, 4 bytes, signed
//            8@-8(%rbp)          the 8 bytes at rbp - 8
//            2@$5                the number 5
//   arm64    -4@[sp, 12]  8@x0  4@-1
//
// They are called arg0, arg1, … as they stand there. What cannot be read where the mark is reached keeps its number and says why: registers
// of floating point, addresses made of two registers, places that have only a linker's name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probes/machine.h"
#include "probes/named_values.h"
#include "probes/probe_value.h"

namespace dyetrace::probes {

inline constexpr std::size_t kMarkArgumentsMax = 16;  // sys/sdt.h has 12

struct MarkArguments {
    std::vector<NamedValue> values;
    std::vector<LeftOutValue> left_out;
};

MarkArguments mark_arguments(std::string_view text, Machine machine);

}  // namespace dyetrace::probes
