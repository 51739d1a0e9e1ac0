// What a kernel may lack for probes, found by trying.
#pragma once

#include <string>

namespace dyetrace::capture {

// Why no probe's program can run, whatever it watches; empty: it can. Programs are tried, which takes the rights to load one.
std::string probes_lack();

// Why functions of the kernel cannot be watched; empty: they can.
std::string kernel_functions_lack();

}  // namespace dyetrace::capture
