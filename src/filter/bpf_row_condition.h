// Writes a condition over a probe's row, without counting it.
#pragma once

#include <cstddef>

#include "filter/assembler.h"
#include "filter/expression.h"

namespace dyetrace::filter {

// Goes to is_not if it is not TRUE of the row that begins at so many bytes from the frame's end, which is negative; to undecided if the kernel cannot tell; else on.
void write_row_condition(
    Assembler& code, const Expression& where, std::ptrdiff_t row_at, Label is_not, Label undecided);

}  // namespace dyetrace::filter
