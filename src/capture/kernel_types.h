// The kernel's types are some 130,000. libbpf looks each that the programs name up by going through all of them, sixty times, which was a fourth of the
// CPU time that a recording took to begin; so it is given a file in which all others are nothing.
#pragma once

#include "base/fd.h"

struct btf;

namespace dyetrace::capture {

// A file in memory (BTF): the structures, unions and enums of `kernel` that `programs` have under the same name, whatever comes after "___" in theirs,
// with all that lies in them, and under the numbers that they have; a pointer stands at every other number, and after the last there is no more.
// Invalid if it cannot be made.
base::Fd named_types(const btf& kernel, const btf& programs);

}  // namespace dyetrace::capture
