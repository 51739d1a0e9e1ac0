// How every generated program begins and ends.
#pragma once

#include <cstdint>
#include <optional>

#include "filter/assembler.h"
#include "filter/bpf_compiler.h"

namespace dyetrace::filter {

// Puts the context, the event and the filter_input into their registers (bpf_columns.h).
void begin_program(Assembler& code, const BpfLayout& layout);

// Goes to another program of the table, or ends with `result` where there is no table.
void leave_program(Assembler& code,
                   const BpfLayout& layout,
                   std::optional<std::uint32_t> to,
                   int result);

}  // namespace dyetrace::filter
